"""Parts of a dataset that share nothing: for training, validation and tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zarrix.ml._datasets.subset import Subset, chosen, runs_of
from zarrix.ml._datasets.units import Rule, fold_ranges, ranges_of
from zarrix.ml._datasets.windows import Windowed

__all__ = ["Divisible"]


class Divisible(Windowed):
    """A dataset of windows, which can be split."""

    def split(
        self,
        parts: Mapping[str, float],
        *,
        by: str | None = None,
        gap: int | None = None,
        stratify: Any = None,
        seed: int = 0,
    ) -> tuple[Any, ...]:
        """Divide the items into parts that share nothing, such as for training and validation.

        Crops of one frame are in one part, and so are, unless ``by`` says otherwise, neighbours in
        time.

        Parameters
        ----------
        parts : mapping of str to float
            The share of each part; together at most 1.
        by : str, optional
            "group" or, for clips, "episode": whole ones, chosen by ``seed``. A column of a joined
            table, such as the patient: all items with one value, chosen alike. "position": single
            positions along the first dimension, chosen alike. The name of the first dimension:
            ranges of it, in order, in each group. When omitted, by group if there are several, else
            by episode if there are several, else along the dimension.
        gap : int, optional
            Along a dimension, how many positions between two parts are in neither; for clips their
            length when omitted, so that no frame is in two parts.
        stratify : str or array, shape (items,), optional
            A column of `table`, or the class of each item: in each class a part has its share of
            what ``by`` names, rounded up or down. ``by`` is then "position" where it would be
            the dimension.
        seed : int

        Returns
        -------
        tuple of datasets
            One for each part, in order.

        Raises
        ------
        ValueError
            Shares are not positive, a part would have no items, ``by`` or ``stratify`` is not
            known, or what stays together has several classes.

        Examples
        --------
        >>> import numpy as np, zarrix as zarr
        >>> from zarrix import ml
        >>> rows = ml.Rows({"x": zarr.array(np.arange(10))})
        >>> train, val = rows.split({"train": 0.8, "val": 0.2})
        >>> [val[item]["x"].item() for item in range(len(val))]
        [8, 9]
        """
        ranges = ranges_of(self, parts, Rule(by, gap, stratify, seed))
        return tuple(Subset(self, ranges[name]) for name in parts)

    def folds(
        self,
        count: int,
        *,
        by: str | None = None,
        gap: int | None = None,
        stratify: Any = None,
        seed: int = 0,
    ) -> list[tuple[Any, Any]]:
        """Pairs of parts for cross-validation: each item is in the second part of one pair.

        Parameters
        ----------
        count : int
            How many pairs, at least 2.
        by, gap, stratify, seed : optional
            As for `split`.

        Returns
        -------
        list of (dataset, dataset)
            For training, and for validation. With a gap some items are in neither.

        Raises
        ------
        ValueError
            As for `split`.

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix import ml
        >>> rows = ml.Rows({"x": zarr.zeros((9, 2))})
        >>> [val.table()["item"].tolist() for train, val in rows.folds(3)]
        [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
        """
        folds = fold_ranges(self, count, Rule(by, gap, stratify, seed))
        return [(Subset(self, train), Subset(self, val)) for train, val in folds]

    def select(self, items: Any) -> Any:
        """The dataset of some items, in this order where nothing shuffles them.

        Parameters
        ----------
        items : array of int, or of bool with shape (items,)
            Numbers of items, none of them twice, or which items; such as a condition on `table`.

        Returns
        -------
        dataset
            ``batch["item"]`` has the numbers of this dataset, from which samples are drawn as here.

        Raises
        ------
        ValueError
            An item is chosen twice, or none is.
        IndexError
            There is no such item.

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix import ml
        >>> rows = ml.Rows({"x": zarr.zeros((5, 2))}).join(ml.Table({"ok": [1, 0, 1, 1, 0]}))
        >>> good = rows.select(rows.table()["ok"] == 1)
        >>> [int(good[number]["item"]) for number in range(len(good))]
        [0, 2, 3]
        """
        return Subset(self, runs_of(chosen(items, len(self))))
