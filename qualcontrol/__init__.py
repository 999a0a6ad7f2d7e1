"""Quality control: worker requirements, flags, spot checks, exclusions and the decision log."""
