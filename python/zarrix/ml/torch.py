"""Datasets of zarrix.ml under the stock DataLoader of torch.

torch is imported when something here needs it, and not before.
"""

from __future__ import annotations

from zarrix.ml._loading.torch import BatchSampler, DataLoader, collate

__all__ = ["BatchSampler", "DataLoader", "collate"]
