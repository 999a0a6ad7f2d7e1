"""Background work: kinds of jobs, requests for them, and the workers that run them.

work       the kinds, which apps register in modules named `job_kinds`, and what their functions
           get: progress, log, cancellation
requests   what people do: request, cancel, run again; old jobs are deleted
leases     what a worker writes: take, renew, end
runner     runs one job after the other
"""
