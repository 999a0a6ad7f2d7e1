"""The operator's pages: requesters, workers, invitations, studies, payouts, records."""
