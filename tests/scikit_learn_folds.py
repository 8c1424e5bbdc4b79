"""The splitter of scikit-learn for each split of ours."""

from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)

FOLDS = {  # by whether the target is numbers, and whether there are groups
    (True, False): KFold,
    (False, False): StratifiedKFold,
    (True, True): GroupKFold,
    (False, True): StratifiedGroupKFold,
}


def splitter(split, *, numbers, groups, n_splits, seed, folds=None):
    """Return the splitter; `folds` are those of fixed_folds."""
    if split == "leave_one_group_out":
        return LeaveOneGroupOut()
    if split == "time_order":
        return TimeSeriesSplit(n_splits)
    if split == "fixed_folds":
        return PredefinedSplit(folds)
    return FOLDS[numbers, groups](n_splits, shuffle=True, random_state=seed)
