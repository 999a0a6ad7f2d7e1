"""The operator's pages: requesters, workers, invitations, studies, layouts, money, records."""
