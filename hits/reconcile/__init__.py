"""The reconciler, which runs the steps of a sync, and one module per step."""
