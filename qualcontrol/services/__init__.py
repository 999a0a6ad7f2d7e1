"""Functions that change quality control's data, one module for each topic.

`qualcontrol.review` has those that only reviewers need.

A service logs its decisions in the transaction of the change. Locks are taken in one order: worker,
response, task. Worker risks have their own lock, and no service waits for it while it holds another
lock.
"""
