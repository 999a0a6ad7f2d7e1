"""The steps of the reconciler, one module each; `hits.reconciler` runs them in their order."""
