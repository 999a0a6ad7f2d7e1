"""The reconciler, which runs the steps in their order, and each step as a module."""
