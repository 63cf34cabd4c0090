"""One run of the command: a table in, a folder out. Each step is a file, in the order of the work.

files -> columns -> task -> pricing -> choosing -> folder; select holds them together.
"""
