"""LassoNet (the package `lassonet`): a network with a sparse skip layer, over its path of penalties."""

from __future__ import annotations

import contextlib
import time
import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.preprocessing import StandardScaler

from lab.rivals.optional import needed
from lab.rivals.rows import Places
from lab.rivals.sized import Model, Sized, Work

BATCH = 256
PATH = 0.8  # of the time is for the path, the rest for the final networks


class OutOfTime(Exception):
    """The only way to leave the package's path early."""


class LassoNet(Sized):
    """The path chooses the columns; as its authors do, a network without penalty is then trained on those alone.

    Parameters and attributes are those of ``lab.rivals.sized.Sized``. Needs the package lassonet, which brings torch;
    neither is in the extra "lab".

    Examples
    --------
    >>> from lab.rivals import LassoNet
    >>> LassoNet(ks=(2, 5)).title
    'LassoNet'
    """

    title: ClassVar[str] = "LassoNet"

    def _sized(self, work: Work) -> dict[int, Model]:
        needed("torch", "torch", "LassoNet", get="lassonet").set_num_threads(1)
        scaler = StandardScaler().fit(work.train.X.astype(np.float64))
        train, valid = (scaler.transform(X).astype(np.float32) for X in (work.train.X, work.valid.X))
        now = time.monotonic()
        found: dict[int, Model] = {}
        for k, columns in sorted(self._path(work, train, valid, now + PATH * (work.deadline - now)).items()):
            if work.late:
                break
            network = self._network()
            checks = {"X_val": valid[:, columns], "y_val": self._target(work, work.valid.labels)}
            network.path(train[:, columns], self._target(work, work.train.labels), lambda_seq=[], **checks)
            found[k] = self._model(work, network, scaler, columns)
        return found

    def _path(self, work: Work, train: Any, valid: Any, deadline: float) -> dict[int, Places]:
        """For each k, the columns of the model on the path with at most k of them and the lowest validation loss."""
        best: dict[int, float] = {}
        chosen: dict[int, Places] = {}

        def note(model: Any, history: list[Any]) -> None:
            columns = np.flatnonzero(history[-1].selected.numpy())
            for k in work.ks:
                if 0 < len(columns) <= k and history[-1].val_loss < best.get(k, np.inf):
                    best[k], chosen[k] = history[-1].val_loss, columns
            if time.monotonic() > deadline:
                raise OutOfTime

        labels, checks = self._target(work, work.train.labels), self._target(work, work.valid.labels)
        with warnings.catch_warnings(), contextlib.suppress(OutOfTime):
            warnings.simplefilter("ignore")
            self._network().path(train, labels, X_val=valid, y_val=checks, callback=note)
        return chosen

    def _network(self) -> Any:
        package = needed("lassonet", "lassonet", "LassoNet", get="lassonet")
        kind = package.LassoNetRegressor if self._regresses else package.LassoNetClassifier
        settings = {"random_state": self.seed, "torch_seed": self.seed, "device": "cpu"}
        return kind(hidden_dims=(100,), batch_size=BATCH, verbose=0, **settings)

    def _target(self, work: Work, y: Any) -> Any:
        """Labels as they are, numbers standardised as a network likes them."""
        if not self._regresses:
            return y
        return ((y - work.train.labels.mean()) / work.train.labels.std()).astype(np.float32)[:, None]

    def _model(self, work: Work, network: Any, scaler: StandardScaler, columns: Places) -> Model:
        mean, spread = work.train.labels.mean(), work.train.labels.std()

        def predict(X: Any) -> Any:
            found = np.asarray(network.predict(scaler.transform(X).astype(np.float32)[:, columns])).ravel()
            return found * spread + mean if self._regresses else found

        return Model(columns, predict)
