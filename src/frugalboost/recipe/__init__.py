"""The recipe of ``frugalboost select`` as plain Python: a table in, a selection out; the command is around it.

Each step is a file, in the order of the work: files -> columns -> task -> pricing -> choosing -> selection -> folder;
select holds them together. Nothing here prints, but for ``verbose``, or knows the command.
"""
