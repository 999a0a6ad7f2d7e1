"""The commands of `python -m corpora`. The site's commands of the same kind call them.

Each module has HELP, `add_arguments(parser)`, and `run(…)`, which takes the values of the arguments
by name and yields the lines to print. It raises DomainError if it cannot do its work.
"""
