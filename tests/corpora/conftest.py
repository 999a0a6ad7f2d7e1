import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def write(tmp_path: Path):
    def write_content(name: str, content: Any) -> Path:
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write_content
