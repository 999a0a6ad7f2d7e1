"""Background work: kinds of jobs, requests for them, and the workers that run them.

registry   the kinds; each app registers its own in a module named `job_kinds`
requests   what people do: request, cancel, run again
leases     what a worker writes: take, renew, end
work       what the function of a kind gets: progress, log, cancellation
runner     runs one job after the other
"""
