"""One step of a migration that makes the tables of several apps."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db.migrations import CreateModel
from django.db.migrations.operations.base import Operation


class CreateTables(Operation):
    """Create models of several apps at once. They may refer to each other in any order.

    A migration that creates them one after the other renders models again for each: those that
    refer to the new one, those that refer to these, and so on. Here, they are rendered once.
    """

    def __init__(self, models: Mapping[str, Sequence[CreateModel]]) -> None:
        self.models = models

    def state_forwards(self, _app_label: str, state: Any) -> None:
        # Without rendered models, nothing is rendered until the tables are made.
        state.__dict__.pop("apps", None)
        for app, model in self._each():
            model.state_forwards(app, state)

    def database_forwards(
        self, _app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        for app, model in self._each():
            model.database_forwards(app, schema_editor, from_state, to_state)

    def database_backwards(
        self, _app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        for app, model in reversed([*self._each()]):
            model.database_backwards(app, schema_editor, from_state, to_state)

    def describe(self) -> str:
        return f"Create the models of {', '.join(self.models)}"

    def _each(self) -> Iterator[tuple[str, CreateModel]]:
        for app, models in self.models.items():
            for model in models:
                yield app, model
