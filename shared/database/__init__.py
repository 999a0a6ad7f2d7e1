"""What Django's database layer lacks: triggers, locks between processes, snapshots."""
