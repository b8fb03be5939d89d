# The few names of scikit-learn that are subclassed or decorate: a base class of type Any would have every attribute.
from typing import Any

def __getattr__(name: str) -> Any: ...
