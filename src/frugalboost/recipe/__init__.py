"""The recipe of ``frugalboost select`` as plain Python: a table in, a selection out; the command is around it.

Each step is a file, in the order of the work: files -> converting -> columns -> task -> pricing -> effort ->
choosing -> selection -> folder; select calls them in turn. Nothing here prints, except with ``verbose``, or depends on
the command.
"""
