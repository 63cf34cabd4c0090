"""What each parameter of the others is here. A parameter belongs in one row.

A row has one of three states: ``ours``, the name of our parameter; ``later``, the name that a parameter will have,
which must go once our signature has it; or neither, which is on purpose, and ``note`` says why.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """Parameters that mean about the same."""

    note: str
    ours: str = ""  # our parameters, with blanks between
    later: str = ""
    hist: str = ""  # of HistGradientBoosting
    lgbm: str = ""  # of LightGBM's estimators
    native: str = ""  # of LightGBM's own, which its estimators take as **kwargs
    xgb: str = ""

    def names(self, library: str) -> list[str]:
        """The parameters of one library."""
        return str(getattr(self, library)).split()


SECTIONS: dict[str, list[Row]] = {
    "Boosting": [
        Row("", "loss", hist="loss quantile", lgbm="objective", native="alpha fair_c", xgb="objective"),
        Row("", "learning_rate", hist="learning_rate", lgbm="learning_rate", xgb="learning_rate"),
        Row(
            "the most; boosting ends where nothing pays",
            "max_iter",
            hist="max_iter",
            lgbm="n_estimators",
            xgb="n_estimators",
        ),
        Row('"prior": the best constant', "init", native="boost_from_average", xgb="base_score"),
        Row(
            "one tree for all classes or targets, or one for each",
            "multi_strategy",
            xgb="multi_strategy",
        ),
        Row(
            "trees, straight lines in single features, or both; no DART, no forests, no linear models in leaves",
            "base",
            lgbm="boosting_type",
            native="linear_tree linear_lambda drop_rate",
            xgb="booster num_parallel_tree",
        ),
        Row("", "warm_start", hist="warm_start"),
        Row("", "random_state", hist="random_state", lgbm="random_state", xgb="random_state"),
    ],
    "Trees": [
        Row("None: no limit", "max_depth", hist="max_depth", lgbm="max_depth", xgb="max_depth"),
        Row(
            "total weight of rows, not of curvatures",
            "min_samples_leaf",
            hist="min_samples_leaf",
            lgbm="min_child_samples min_child_weight",
            xgb="min_child_weight",
        ),
        Row(
            "in leaf values; the criterion for splits has none",
            "l2_regularization",
            hist="l2_regularization",
            lgbm="reg_lambda",
            xgb="reg_lambda",
        ),
        Row(
            "best first; None: no limit, and level by level",
            "max_leaf_nodes",
            hist="max_leaf_nodes",
            lgbm="num_leaves",
            xgb="max_leaves",
        ),
        Row(
            "none: trees grow best first with max_leaf_nodes, otherwise level by level",
            xgb="grow_policy",
        ),
        Row(
            "a split on a new feature must gain more than mu times its price; one on an owned feature is free",
            "mu",
            lgbm="min_split_gain",
            xgb="gamma",
        ),
        Row("none: prices choose features, and an L1 norm of leaf values would not", lgbm="reg_alpha", xgb="reg_alpha"),
        Row(
            "fixed: leaf values are at most 36 in size for log loss and 10 for Poisson",
            native="max_delta_step poisson_max_delta_step",
            xgb="max_delta_step",
        ),
        Row("none", native="extra_trees path_smooth forcedsplits_filename"),
    ],
    "Features": [
        Row(
            "prices by feature, bag, neighbourhood or stage, once ([LightGBM CEGB](comparison.md#lightgbm-cegb)) or, "
            "with PerRow, for each row that looks, in shares of all ([costs](costs.md#once-or-for-each-row))",
            "costs",
            native="cegb_tradeoff cegb_penalty_feature_coupled cegb_penalty_feature_lazy feature_contri",
        ),
        Row("none: prices are of features, not of splits", native="cegb_penalty_split"),
        Row("none: columns are drawn with equal chances, and prices say which are preferred", xgb="feature_weights"),
        Row(
            "drawn in each iteration, not in each node; new_features draws among those that are not owned",
            "max_features",
            hist="max_features",
            lgbm="colsample_bytree",
            native="feature_fraction_bynode",
            xgb="colsample_bytree colsample_bylevel colsample_bynode",
        ),
        Row(
            "exact for every row there can be; what breaks it is no offer; two classes at most",
            "monotonic_cst",
            hist="monotonic_cst",
            native="monotone_constraints monotone_constraints_method monotone_penalty",
            xgb="monotone_constraints",
        ),
        Row(
            "groups by place or name",
            "interaction_cst",
            hist="interaction_cst",
            native="interaction_constraints",
            xgb="interaction_constraints",
        ),
        Row(
            "by type, name or place; texts and numbers as levels",
            "categorical_features",
            hist="categorical_features",
            native="categorical_feature",
            xgb="enable_categorical feature_types",
        ),
        Row(
            "none: a split is the best of all sets of levels; levels lighter than a leaf count as one",
            native="max_cat_threshold max_cat_to_onehot cat_l2 cat_smooth min_data_per_group",
            xgb="max_cat_threshold max_cat_to_onehot",
        ),
        Row("none: `feature_importances_` are shares of gains", lgbm="importance_type", xgb="importance_type"),
    ],
    "Rows": [
        Row(
            "",
            "class_weight",
            hist="class_weight",
            lgbm="class_weight",
            native="is_unbalance scale_pos_weight",
            xgb="scale_pos_weight",
        ),
        Row("drawn in each iteration", "subsample", lgbm="subsample subsample_freq", xgb="subsample"),
        Row(
            "none: gradients of all rows are added",
            native="data_sample_strategy top_rate other_rate pos_bagging_fraction neg_bagging_fraction",
            xgb="sampling_method",
        ),
        Row("none: NaN is missing, and zero is zero", native="use_missing zero_as_missing", xgb="missing"),
    ],
    "Stopping and scores": [
        Row("False by default", "early_stopping", hist="early_stopping"),
        Row(
            "", "n_iter_no_change", hist="n_iter_no_change", native="early_stopping_round", xgb="early_stopping_rounds"
        ),
        Row("", "tol", hist="tol", native="early_stopping_min_delta"),
        Row("or rows of your own: `fit(X_val=..., y_val=...)`", "validation_fraction", hist="validation_fraction"),
        Row(
            "of the validation rows; None: the loss",
            "scoring",
            hist="scoring",
            native="metric",
            xgb="eval_metric",
        ),
        Row("functions, called after each iteration", "callbacks", xgb="callbacks"),
    ],
    "Bins, memory and work": [
        Row("at most 255", "max_bins", hist="max_bins", native="max_bin", xgb="max_bin"),
        Row(
            "none: thresholds follow from the column, from a sample of the rows of large tables",
            lgbm="subsample_for_bin",
            native="min_data_in_bin max_bin_by_feature forcedbins_filename",
        ),
        Row("for exact skipping of columns, without another model", "screening", native="enable_bundle"),
        Row("the same model for any number", "n_jobs", lgbm="n_jobs", xgb="n_jobs"),
        Row("none: always the same bytes of model", native="deterministic"),
        Row(
            "the same model on a GPU; histograms are of exact sums everywhere",
            "device",
            native="device_type tree_learner use_quantized_grad",
            xgb="device tree_method",
        ),
        Row("", "verbose", hist="verbose", xgb="verbosity"),
        Row("none: parameters are always checked", xgb="validate_parameters"),
    ],
}

# Our other parameters, which none of the three has.
OURS_ALONE = {
    "mu_unit": "whether mu is a share of the impurity, or in the paper's units",
    "budget": "the highest total cost",
    "n_features_to_select": "exactly so many features: buy more, sell the weakest back, refit",
    "fewer": "makes `n_features_to_select` the most that is allowed",
    "refit": "one more fit on the chosen features alone",
    "average": "makes that fit the mean of several models",
    "new_features": "how many of the features that are not owned a tree looks at",
    "bins_folder": "where bins are mapped into memory, for tables larger than it",
    "line_scale": "what lines are drawn on: values or ranks",
    "leaf_values": "a Newton step, or the mean of the gradient as in the paper",
    "stop": '"never": prices only influence which split is made, as in the authors\' code',
}
