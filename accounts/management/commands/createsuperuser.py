from shared.user_names import CreateSuperuser as Command

__all__ = ["Command"]
