/* Seeded faults: `make mutants` switches each on by itself and demands that the test named with it fails.
 *
 * A build with NADE_SEEDED_FAULTS holds all of them and makes the one whose number the environment variable NADE_FAULT
 * holds (fault.c).  In any other build ND_FAULT is a constant, and nothing of this remains.  In each line of the
 * enumeration: the test, a program of tests/ or a script of tests/cli, and what is wrong. */
#ifndef ND_BASE_FAULT_H
#define ND_BASE_FAULT_H

enum fault {
    FAULT_NONE = 0,

    /* The model and its training. */
    FAULT_NO_WEIGHT = 1,          /* test_golden: the objective without its D/(D-d+1) */
    FAULT_SHIFTED_MASK = 2,       /* test_golden: the mask input of column c set at column c+1 */
    FAULT_SWAPPED_COMPONENTS = 3, /* test_golden: means of the first two components exchanged in the density */
    FAULT_NO_BIAS_GRADIENT = 4,   /* test_gradients: a hidden layer's bias never learns */
    FAULT_NO_LOG_SD = 5,          /* test_train: densities left in standardised units */
    FAULT_WRONG_TIES = 6,         /* test_draws: equal random keys both count as smaller */
    FAULT_SELECT_TIES = 719,    /* test_row_kernels: the CPU's choice of observed columns counts ties as smaller too */
    FAULT_BF16_IGNORED = 720,   /* test_bf16: --precision bf16 multiplies in fp32 on the CPU */
    FAULT_SCORE_DRIFT = 7,      /* test_golden: the running sum forgets the mask's weight */
    FAULT_RATE_NOT_DECAYED = 8, /* test_golden: the learning rate stays what it was */
    FAULT_CLIP_SQUARES = 10,    /* test_clipping: clipping compares the sum of the squares, not its root */
    FAULT_FOCUS_IGNORED = 764,  /* train_kinds: no draw of training is of an ordering that it is to focus on */
    FAULT_STRATA_FIXED = 12,    /* test_objective: a stratified d is always the first of its stratum */
    FAULT_AVERAGE_STARTS = 11,  /* test_averaging: an average begins with the weight it has later on */
    FAULT_MISSING_IS_ZERO = 9,  /* test_golden: a missing cell is scored as if it held zero */
    FAULT_STAGE_FORGETS = 30,   /* test_stages: a stage of pretraining starts from random weights */
    FAULT_MOMENTS_LOST = 31,    /* test_checkpoint: a resumed run starts with zero momentum */
    FAULT_LOSS_UNITS = 32,      /* test_summary: training reports losses in standardised units */
    FAULT_NO_STAND_INS = 34,    /* test_holes: rows with holes count for more where little is observed */
    FAULT_FRESH_LOST = 33,      /* test_fresh_rows: a resumed run goes on with the rows it began with */
    FAULT_FIXED_SUM_EARLY = 20, /* test_fixed_order: a cell's weight also learns from the cell's own position */
    FAULT_FIXED_STRETCH = 21,   /* test_fixed_order: hidden units stay as they were when a cell enters */
    FAULT_NO_SCALE_GRADIENT = 24, /* test_fixed_order: the factors of the positions stay what they were */
    FAULT_SCALE_PLACE = 25,       /* test_fixed_order: a column's factor is looked up by its number, not its position */
    FAULT_LINEAR_OWN = 540,       /* test_fixed_order: without hidden layers a column also learns from its own cell */
    FAULT_LINEAR_FILE = 541,      /* test_linear_model: a model file whose columns see later ones is read */
    FAULT_LINEAR_RESUMED = 542,   /* test_linear_model: and such a checkpoint */
    FAULT_LINEAR_ANYWHERE = 543,  /* test_device: devices that can't compute it are given a network without layers */
    FAULT_LINEAR_AGNOSTIC = 544,  /* test_linear_model: no hidden layer goes with all orderings as far as the plan */
    FAULT_LINEAR_HOLES = 545,     /* test_fixed_order: without hidden layers a missing label is the first one */
    FAULT_ATOM_WIDTH = 22,        /* test_number_shape: the density at an atom is its probability, whatever its width */
    FAULT_ATOM_AS_GAUSSIAN = 23,  /* test_fitted_atoms: a drawn atom is scattered like a component of its unused mean */
    FAULT_NO_MAP_SLOPE = 50,      /* test_number_columns: the density of a mapped column lacks the map's slope */
    FAULT_ATOM_UNIT = 51,         /* test_number_columns: an atom's density has the slope of the map at its cell */
    FAULT_ATOM_PLACE = 52,        /* test_cell_distributions: an atom at a bound lies where the network sees it */
    FAULT_STRAIGHT_TAIL = 53,     /* test_monotone_map: beyond its knots a map goes on straight past a bound */
    FAULT_BOUND_FORGOTTEN = 54,   /* test_number_columns: numbers outside of bounds are scored */
    FAULT_ATOM_INPUT = 55,        /* test_golden: an atom sets the input of the next one */
    FAULT_BIN_OF_BOUND = 56,      /* score_cells: an atom at a bound is in the bin beside it too */
    FAULT_ORDERED_NEXT = 57,      /* test_number_columns: an ordered value is drawn as the one above it */
    FAULT_MEAN_OF_CELL = 58,      /* test_number_columns: the mean of a mapped column is the value at its mean cell */
    FAULT_SAMPLE_NO_FLOOR = 40,   /* test_sampling: the sampler's scales lack the density's floor */
    FAULT_SAMPLE_ORDERING = 41,   /* test_sampling: with K orderings, samples never use the last */
    FAULT_TARGET_OBSERVED = 60,   /* test_cell_distributions: a cell given the rest of its row sees the cell itself */
    FAULT_TAIL_ONE_SIDE = 61,     /* test_cell_distributions: a tail probability leaves out what lies above all means */
    FAULT_IMPUTE_ROW_NUMBER = 62, /* test_imputing: imputations of all rows draw the same random words */
    FAULT_COUNT_TOP = 63,         /* test_count_head: the largest count is that alone, not all from it on */
    FAULT_COUNT_BEYOND = 64,      /* test_count_head: log-means and dispersions beyond what counts have a gradient */
    FAULT_ABSENCE_LOST = 70,      /* test_schema: a missing cell stays missing where absence is a label */
    FAULT_BIN_SHIFTED = 71,       /* test_cell_score: the cell score's bin begins at the value, not around it */
    FAULT_RANGE_LATER = 72,       /* test_ranges: rows that miss the range of a second column are kept */
    FAULT_NORM_VARIANCE = 80,     /* test_golden: the variance of a norm is divided by one unit less */
    FAULT_NORM_KERNEL = 81,       /* test_residual_kernels: the same in the CPU's kernel */
    FAULT_BIASES_DECAY = 82,      /* test_golden: biases and norms decay too */
    FAULT_NORM_PART = 83,         /* test_residual_networks: norms learn from the first chunk of rows alone */
    FAULT_STREAM_CUT = 84,        /* test_gradients: what goes past a block is lost on the way back */
    FAULT_DIRECT_DECAY = 85,      /* test_golden: the linear path decays as the other weights do */
    FAULT_DIRECT_LINE = 86,       /* test_residual_networks: a line has the linear path's part of the first column */
    FAULT_DROPOUT_UNSCALED = 87,  /* test_golden: the units that dropout leaves stay as they are */
    FAULT_DROPOUT_HALVES = 88,    /* test_golden: of two units that share a word the first has the higher half */
    FAULT_DROPOUT_SLOPES = 89,    /* test_residual_kernels: dropped units still learn */
    FAULT_START_ELSEWHERE = 91,   /* test_residual: a residual network does not begin with the columns' marginals */
    FAULT_PATCH_NOISE = 90,       /* test_patches_threads: four pixels of a patch share their noise */

    /* What training decides by itself. */
    FAULT_VALID_FIRST_ROWS = 100,   /* test_train_policy: too many validation rows are cut to the first, not spaced */
    FAULT_VALID_FEW_REPEATS = 101,  /* test_train_policy: validation draws a quarter as often */
    FAULT_FAR_CELLS_CHOOSE = 736,   /* test_far_cells: held-out cells far from all others count in validation */
    FAULT_ALL_ARE_SLIPS = 985,      /* test_far_cells: far cells are left out of validation however many they are */
    FAULT_NAG_RATE = 102,           /* test_train_policy: NAG's default rate halved */
    FAULT_PATIENCE = 103,           /* test_train_policy: training goes on for one iteration more than patience says */
    FAULT_SPLIT_ROUNDED_DOWN = 104, /* test_train_policy: a fraction of a held-out row is dropped */
    FAULT_FARTHEST = 105,           /* test_train_policy: values up to 1e18 deviations away are taken */
    FAULT_RATE_REPORTED = 106,      /* test_train_policy: the rate reported is that of the next update */
    FAULT_MEMORY_ESTIMATE = 107,    /* test_train_policy: the memory estimate counts half of the parameters' copies */
    FAULT_MEMBERS_ONE_SEED = 183,   /* test_train_members: all members are trained with the seed of the first */
    FAULT_RESUMED_ENDS = 986,       /* test_train_members: a member that diverges after a resume ends the run */
    FAULT_FOLDS_SEE_ALL = 96,       /* test_folds: networks of folds are trained on the rows that validate them */
    FAULT_WORST_TRIAL = 92,         /* test_trials: the worse half of the candidates goes on */
    FAULT_NO_PROMISE = 746,         /* test_trials: candidates are compared by what they have come to */
    FAULT_NO_DUEL = 747,            /* test_standings: what promises most goes on alone, whatever another has */
    FAULT_FEW_IN_DUEL = 749,        /* test_standings: few components that learn fast go on beside a promise */
    FAULT_DUEL_UNTOLD = 765,        /* test_standings: what training takes at most leaves out a duel */
    FAULT_GIVEN_IS_VARIED = 93,     /* test_trials: a dropout that was given is varied like one that was left open */
    FAULT_WAY_STRAIGHT = 97,        /* test_folds: all rows are trained on as if the folds had never gone back */
    FAULT_RATE_NOT_LOWERED = 98,    /* test_retries: a run that diverged goes on with the same rate */
    FAULT_START_FORGOTTEN = 99,     /* test_train_course: what a run begins with is validated and not kept */
    FAULT_MOMENTS_KEPT = 109,       /* test_turns: parameters that go back keep the momentum of those left */
    FAULT_AVERAGE_NOT_TRIED = 108,  /* test_train_course: with an average the parameters themselves are validated */

    /* Files to tables. */
    FAULT_DOUBLED_QUOTE = 110,        /* test_data_csv: a doubled quote inside quotes is lost */
    FAULT_QUOTED_LINES = 111,         /* test_data_csv: CR LF inside quotes counts as two lines */
    FAULT_MISSING_BECOMES_ZERO = 112, /* test_data_csv: cells missing before a column has many numbers are 0 */
    FAULT_FORTRAN_AS_C = 113,         /* test_data_npy: an array in Fortran's order is read row by row */
    FAULT_IDX_LITTLE_ENDIAN = 114,    /* test_data_idx: items are read little end first */
    FAULT_HALF_SUBNORMAL = 115,       /* test_data_npy: the smallest half floats are halved */
    FAULT_UNSIGNED_ITEMS = 116,       /* test_data_npy: negative integers are read as large ones */
    FAULT_ONE_GZIP_MEMBER = 117,      /* test_data_csv: what follows the first member of a gzip file is lost */
    FAULT_NO_CHECKSUM = 118,          /* test_data_npz: an archive's checksums are not looked at */
    FAULT_ROWS_BEYOND = 119,          /* test_data_reader: listed rows that the table does not have are passed over */
    FAULT_RARE_CATEGORIES = 120,      /* test_data_types: 20 usual integers are too many for labels */
    FAULT_HEADER_REPEATED = 121,      /* test_data_csv: a first row of texts that come again below is a header */
    FAULT_STEP_OF_DECIMALS = 122,     /* test_recording_step: the recording step is the last decimal, of halves too */

    /* What a model is asked. */
    FAULT_REST_NEEDED = 130,        /* test_conditionals: columns that are neither asked for nor given must be there */
    FAULT_SPREAD_DIVISOR = 131,     /* test_summary: the spread over K orderings is divided by K */
    FAULT_ENSEMBLE_MEAN = 132,      /* test_summary: the mean of K densities is their sum divided by K+1 */
    FAULT_STANDARD_ERROR = 133,     /* test_summary: the standard error's variance is divided by the rows */
    FAULT_EMPTY_ROWS_COUNT = 134,   /* test_summary: rows without a cell count in the means */
    FAULT_GAIN_UNITS = 135,         /* test_summary: the marginals' densities stay in standardised units */
    FAULT_INTERVAL_ONE_SIDED = 136, /* test_imputing: as much is left out on each side as on both */
    FAULT_MEAN_IS_MODE = 137,       /* test_imputing: the mean of a real cell is its mode */
    FAULT_STEP_ROUNDED_DOWN = 138,  /* test_recording_step: values are cut to a multiple of the step, not rounded */
    FAULT_UNSEEN_UNCOUNTED = 139,   /* test_schema: labels that training has not seen are not counted */
    FAULT_NO_SHARES = 142,          /* test_many_labels: a rare label has the probability of all of them */
    FAULT_RANGE_SHARE = 143,        /* test_label_ranges: a range has all of the value that rare labels share */
    FAULT_LABEL_OF_FIRST_TRY = 144, /* test_label_ranges: a rare label is that of the first try, not of the kept one */
    FAULT_OFFSET_FORGOTTEN = 145,   /* test_recording_step: steps begin at zero */
    FAULT_SENTINEL_READ = 141,      /* test_sentinels: a number that training took for a missing cell is a value */
    FAULT_MARK_IS_LABEL = 146,      /* test_awkward: marks such as - are labels among numbers too */
    FAULT_COMMON_MARK_LOST = 147,   /* test_awkward: marks are missing cells where they are the commonest label too */
    FAULT_MARK_UNSEEN = 148,        /* test_awkward: a mark that the model does not know is an unseen label */
    FAULT_MEMBER_LEFT_OUT = 180,    /* test_members: the mean of members' densities is one without the last */
    FAULT_MEMBERS_ALIKE = 181,      /* test_members: all members answer with the parameters of the first */
    FAULT_MEMBER_BY_LOT = 182,      /* test_members: a member's share of draws within a range is that of all draws */
    FAULT_FORM_IGNORED = 149,       /* test_awkward: numbers with marks or units are text */
    FAULT_THOUSANDS_DECIMAL = 156,  /* test_awkward: 81,053 is 81.053 in a file with commas between fields */
    FAULT_ARROW_MARK_UNSEEN = 988,  /* test_arrow_models: a mark among texts from Arrow is an unseen label */
    FAULT_TEXTS_PLAIN = 989,        /* test_arrow_models: texts from Arrow are numbers only where written plainly */
    FAULT_UNITS_CONFUSED = 157,     /* test_awkward: inches are scored as centimetres */
    FAULT_NUMBERED_NAMES = 158,     /* test_awkward: names 0, 1, ... and years are a row */
    FAULT_AMBIGUOUS_LABEL = 140,    /* test_schema: a number that is two labels is taken for the second */

    /* What columns say of the rows. */
    FAULT_GROUPS_DIVIDED = 400,      /* test_row_roles: rows of a group are on both sides of the split */
    FAULT_FOLDS_DIVIDE_GROUPS = 401, /* test_row_roles: rows of a group are in different folds */
    FAULT_EARLIEST_HELD = 402,       /* test_row_roles: the earliest rows are held out */
    FAULT_TIMES_DIVIDED = 403,       /* test_row_roles: rows of any time are held out too */
    FAULT_UNITS_UNWEIGHED = 404,     /* test_row_weights: mean and deviation are those of rows that count alike */
    FAULT_COPIES_UNEVEN = 405,       /* test_row_weights: copies are rounded down */
    FAULT_VALID_UNWEIGHED = 406,     /* test_row_weights: validation rows count alike */
    FAULT_COPIES_COUNTED = 407,      /* test_row_weights: copies that only compare rows make atoms and longer runs */
    FAULT_FOLDS_UNWEIGHED = 408,     /* test_row_weights: rows of folds count alike */
    FAULT_FOLDS_ALIKE = 413,         /* test_row_weights: folds count by their rows, not by what these weigh */
    FAULT_COPIES_MANY = 414,         /* test_row_weights: whole weights in the hundreds are copies that count as rows */
    FAULT_RARE_UNWEIGHED = 415,      /* test_row_weights: labels that share a value do so by rows that count alike */
    FAULT_RARE_UNSCALED = 416, /* test_row_weights: weighed cells of rare labels are in units of the greatest weight */
    FAULT_INTEGERS_BETWEEN = 760, /* test_many_labels: scores of 30, 40 and 50 let 31 be expected */
    FAULT_COPIES_IN_RHYTHM = 417, /* test_row_weights: rows get their copies in the table's order */
    FAULT_SAMPLES_ALIKE = 409,    /* test_bootstrap: all members are trained on the sample of the first */
    FAULT_SAMPLE_FORGOTTEN = 410, /* test_bootstrap: a resumed member is trained on all rows */
    FAULT_GROUPS_RESAMPLED = 411, /* test_bootstrap: rows are drawn, not their groups */
    FAULT_COPIES_RESAMPLED = 412, /* test_bootstrap: copies are drawn, not the rows that they weigh */

    /* Rows and cells that are scored. */
    FAULT_SCORED_GIVEN = 440,    /* score_per_column: with --given, other cells that are scored are given too */
    FAULT_REST_NOT_GIVEN = 441,  /* score_per_column: --per-column --of y gives the marginal of y */
    FAULT_DRAW_OF_MIXTURE = 442, /* test_member_draws: draws by members come from any of them */

    /* Model files. */
    FAULT_ANY_VERSION = 150,        /* test_model_file_broken: a model of another format version is read */
    FAULT_WEIGHTS_NOT_FINITE = 151, /* test_model_file_broken: weights that are not finite are read */
    FAULT_FINGERPRINT_COARSE = 152, /* test_model_file: numbers that differ little are the same data */
    FAULT_STEP_NOT_READ = 153,      /* test_model_file: the step read is the floor */
    FAULT_MAP_CUT_NEAR = 192,       /* test_monotone_map: cells are cut off near the knots, however far the bound is */
    FAULT_BOUND_CROSSED = 700,      /* test_number_shape: bounds are found that rows held out lie beyond */
    FAULT_NARROW_MARGINAL = 154,    /* test_number_shape: no Gaussian of a marginal stays wide */
    FAULT_GRID_OF_ATOMS = 191, /* test_number_shape: a frequent value of a grid is an atom, whatever is beside it */
    FAULT_KEYS_OF_KINDS = 155, /* test_residual_file: the keys of one kind of network are let pass in another */

    /* Tables from Arrow. */
    FAULT_ARROW_OFFSET = 460,        /* test_arrow: missing cells are looked for without the array's offset */
    FAULT_ARROW_FLOATS = 461,        /* test_arrow: floats of 32 bits are not the decimals that they were written as */
    FAULT_ARROW_DICTIONARY = 463,    /* test_arrow: missing values of a dictionary are read */
    FAULT_ARROW_PARTS = 464,         /* test_arrow_stream: a part begins with its batch's first row again */
    FAULT_ARROW_NUMBERS = 465,       /* test_arrow: texts that look like numbers are */
    FAULT_ARROW_KEPT = 466,          /* test_arrow_refused: what was refused is not released */
    FAULT_SECONDS_ARE_NUMBERS = 467, /* test_arrow_models: dates are scored as numbers */
    FAULT_TRUTHS_APART = 462,        /* test_arrow_models: truth values are not the words true and false */

    /* The command. */
    FAULT_EXIT_STATUS = 160,         /* flags_in_sentences: a wrong input ends with status 1 */
    FAULT_JSON_DIGITS = 161,         /* json_messages: numbers of --json do not read back exactly */
    FAULT_QUIET_WARNS = 162,         /* unseen_labels: warnings in spite of --quiet */
    FAULT_WARNING_NOT_JSON = 163,    /* json_messages: a warning is plain text with --json */
    FAULT_FLAG_WITHOUT_NAME = 164,   /* flags_in_sentences: flags are named without their column */
    FAULT_BELOW_IS_AT_MOST = 165,    /* sample_ranges: --where x<3 draws 3 */
    FAULT_LEFT_NOT_MIRRORED = 166,   /* sample_ranges: --where 3<x draws below 3 */
    FAULT_CELLS_REWRITTEN = 167,     /* impute_rows: observed cells are written anew */
    FAULT_LINE_ENDS = 168,           /* impute_rows: the header's line end is not the file's */
    FAULT_FEW_DIGITS = 169,          /* json_messages: numbers do not read back exactly */
    FAULT_STRICT_GOES_ON = 190,      /* info_table: --strict shows errors and goes on */
    FAULT_EXCLUDED_WANTED = 196,     /* asking: --where 'kind != red' draws red */
    FAULT_UNSEEN_FILLED = 195,       /* unseen_labels: labels that training has not seen are filled over */
    FAULT_PIPE_IS_ERROR = 170,       /* closed_pipe: a reader that has gone is an error */
    FAULT_PARTS_APART = 171,         /* score_stream: the standard error forgets how far the parts' means are apart */
    FAULT_HOLE_IN_PLACE = 173,       /* test_hole_samples: values are drawn given those of missing cells */
    FAULT_FOLD_MARGINALS = 194,      /* test_folds: a fold begins with marginals of the rows that validate it */
    FAULT_LANES_ONE_RULE = 761,      /* test_trials: networks side by side all learn by the rule of the first */
    FAULT_STOP_IN_ONE = 762,         /* test_trial_ends: a report that ends trials ends only the one that it is of */
    FAULT_ALL_ROWS_UNTIMED = 763,    /* test_progress: the time left forgets what is trained after folds */
    FAULT_CUT_RUNG = 193,            /* test_trial_ends: time that ends a rung favours those that had more of it */
    FAULT_TRIALS_LOGGED = 174,       /* train_trials: the log has the iterations of all trials */
    FAULT_PREDICT_SEES_ITSELF = 200, /* test_predict: the cell that is asked about is given */
    FAULT_PREDICT_GIVEN_ALL = 201,   /* predict: what is not given is given all the same */
    FAULT_EVENT_WITHOUT_SETS = 202,  /* prob: values named one by one do not count in exact probabilities */
    FAULT_BASELINE_UNITS = 420,      /* test_baseline: a Gaussian's density stays in units of the columns' deviations */
    FAULT_FOLD_NOT_LEFT_OUT = 421,   /* test_baseline: rows are scored by a baseline that was fitted to them */
    FAULT_EM_WHOLE = 422,            /* test_em: labels that no row has get no part of what components are shown */
    FAULT_UNLIKE_ROWS = 423,         /* compare: rows count of which one model reads fewer cells */
    FAULT_NOT_PAIRED = 424,          /* compare: the standard error is that of one side */
    FAULT_COVERAGE_HALF = 425,       /* test_calibration: intervals are half as wide as they should be */
    FAULT_PIT_NOT_RANDOM = 426,      /* check: a cell lies at the upper end of its jump */
    FAULT_ENERGY_BY_COLUMN = 427, /* test_calibration: distances of rows are sums over columns, blind to dependence */
    FAULT_LEVEL_NOT_SHARED = 428, /* test_calibration: each column is tested at the level of all together */
    FAULT_HARMLESS_COUNTS = 429,  /* test_calibration: what is measurable is called a fault however small */
    FAULT_SHIFT_AS_WIDTH = 730,   /* test_calibration: large shifts are called narrow intervals */
    FAULT_QUANTILE_OF_CELL = 731, /* test_predict: medians and ends of times to the second are whole minutes */
    FAULT_MEAN_CUT = 732,         /* date_columns: the mean of a date is cut to its unit, not rounded */
    FAULT_NO_HIT_NO_ERROR = 733,  /* prob: a share of no draws is as sure as an exact 0 */
    FAULT_PREDICTED_FORM = 430,   /* number_forms: predictions have the decimal commas and units of their column */
    FAULT_TRUTH_REFUSED = 431,    /* predict: a truth that the column can't have stops the run */
    FAULT_WAY_OUT_HIDDEN = 432,   /* column_bounds: refused numbers do not say that they can be missing cells */
    FAULT_DATES_IN_SECONDS = 433, /* date_columns: errors of predicted dates are in seconds */
    FAULT_LEFT_PLAIN = 434,       /* number_forms: the left end of a range is no number as the column writes them */
    FAULT_LABELS_PLAIN = 435,     /* sample_ranges: labels such as 95% are no numbers */
    FAULT_FEW_AS_MANY = 490,      /* test_calibration: few cells are judged as if their sums were normal */
    FAULT_UNITS_APART = 491,      /* compare: a density is compared with a probability as it is */
    FAULT_HOLES_UNPAIRED = 492,   /* test_calibration: samples and rows with other holes change sides */
    FAULT_TAIL_WITHIN_STEP = 493, /* test_monotone_map: a tail is as steep as the cells of one recording step make it */
    FAULT_REFERENCE_WHOLE = 443,  /* outliers: rows with holes are compared with whole reference rows */
    FAULT_RANK_WITHOUT_ITSELF = 444, /* outliers: a p-value is a share of the reference rows, and may be 0 */
    FAULT_LEAST_BLAMED = 445,        /* outliers: the likeliest cell of a row is to blame */
    FAULT_TOP_FIRST = 446,           /* outliers: --top takes the first rows of a table */
    FAULT_IMPOSSIBLE_MISSING = 450,  /* outliers: a value that its column can't have counts as missing */
    FAULT_IMPOSSIBLE_UNBLAMED = 451, /* outliers: such a cell is not to blame */
    FAULT_IMPOSSIBLE_APART = 452,    /* outliers: reference rows with such a value do not count in ranks */
    FAULT_CELLS_NOT_COUNTED = 453,   /* outliers: by cell, the number of cells looked at makes no difference */
    FAULT_TEXT_QUOTED = 454,         /* outliers: what an impossible cell holds is shown with the file's quotes */
    FAULT_EM_NO_LEFT_OVER = 520,     /* test_gaussian_em: missing cells are taken to be what is expected of them */
    FAULT_GAUSSIAN_GIVEN = 521,      /* test_gaussian_model: what is given makes no difference */
    FAULT_BOUNDED_LATE = 522,        /* test_gaussian_model: a bounded column is drawn in its turn */
    FAULT_ANY_COVARIANCE = 523,      /* gaussian_kinds: a file's covariances need not be positive definite */
    FAULT_EM_NO_FLOOR = 524,         /* test_gaussian_em: nothing keeps a covariance from becoming singular */
    FAULT_EM_PART_TWICE = 525,       /* test_gaussian_em: a part of the rows is added once more */
    FAULT_ANALYSER_NOISE = 526,      /* test_gaussian_em: the noise is what the factors explain */
    FAULT_GAUSSIAN_BINS = 527,       /* test_gaussian_model: bins have the density at their middle */
    FAULT_ORIGINAL_FILLED = 447,     /* impute_forms: the first table of the long form is filled */
    FAULT_WIDE_FIRST_DRAW = 448,     /* impute_forms: all wide columns hold the first draw */
    FAULT_MIX_EVENLY = 500,          /* test_mixture_model: all components weigh the same in a conditional */
    FAULT_MIXTURE_TARGET = 501,      /* test_mixture_model: a cell's distribution is given the cell itself */
    FAULT_MIXTURE_BINS = 502,        /* test_mixture_model: bins have the density at their middle */
    FAULT_MIXTURE_BOUNDS = 503,      /* test_mixture_model: bounds make no component likelier */
    FAULT_EM_VARIANCE = 504,         /* test_em: a component's variance is about zero, not about its mean */
    FAULT_EM_WEIGHTS = 505,          /* test_em: components' weights stay what they were */
    FAULT_MIXTURE_GIVEN = 506,       /* test_mixture_model: what is given is scored too */
    FAULT_COMPONENT_AGAIN = 507,     /* test_mixture_model: a row drawn in parts has one random number for both */
    FAULT_FIT_WORSE = 508,           /* test_em: counts and dates are fitted worse than they were */
    FAULT_EM_PENALTY = 509,          /* test_em: what a step never lowers lacks the whole columns */
    FAULT_EM_COMMON = 513,           /* test_em: rows of other labels count as of the commonest too */
    FAULT_NEAR_LEFT_OUT = 516,       /* test_gaussian_em: of half the coordinates all but the best are far */
    FAULT_EM_PRIOR_TRACE = 528,      /* test_gaussian_em: what a round never lowers lacks the prior's trace */
    FAULT_FACTORS_COMPARED = 517,    /* closed_search: what other factors came to ends the search for components */
    FAULT_PRIOR_WEAKEST = 518,       /* closed_search: the weakest prior is kept, whatever validation says */
    FAULT_FOLD_ROUNDS = 519,         /* closed_search: all rows are fitted without the rounds that folds chose */
    FAULT_WORTH_OF_ALL_ROWS = 737,   /* test_train_worth: folds judge the mixture by rows that it was fitted to */
    FAULT_LAST_COMPONENTS = 510,     /* mixture_kind: the last number of components tried is kept, not the best */
    FAULT_NETWORK_OPTIONS = 511,     /* mixture_kind: options of networks are let pass */
    FAULT_UNITS_SHARE_WORDS = 550,   /* test_rbm: units four apart are drawn by the same words */
    FAULT_RBM_NO_BIAS = 551,         /* test_rbm: visible units are drawn without their biases */
    FAULT_RBM_STATE_LOST = 552,      /* test_rbm: the sum over all states lacks some */
    FAULT_AIS_ERROR_SMALL = 553,     /* test_rbm_ais: the error of a mean of chains is ten times too small */
    FAULT_AIS_COLD = 554,            /* test_rbm_ais: chains move at the last temperature from the beginning */
    FAULT_PCD_RESTARTS = 555,        /* test_rbm_train: chains that should persist begin at the data */
    FAULT_CD_ONE_PHASE = 556,        /* test_rbm_train: weights learn from the data alone */
    FAULT_BOUND_ENTROPY_TWICE = 557, /* test_dbn: the bound has its entropy twice */
    FAULT_SWEEP_NOT_REVERSED = 558,  /* test_dbn: chains go back by the transition that goes forward */
    FAULT_RBM_WORST_KEPT = 559,      /* test_rbm_runs: of a run's iterations the worst is kept */
    FAULT_RANKS_SAME_ROWS = 600,     /* test_ranks: each rank takes the first rows of a batch */
    FAULT_SUMS_NOT_EXACT = 601,      /* test_ranks: exact sums are the fast ones */
    FAULT_MODELS_APART = 721,        /* test_ranks: each rank scores its rows with a model of its own */
    FAULT_JOB_MOMENTS_LEFT = 960,    /* test_rank_jobs: what trials chose goes on without its moments */
    FAULT_HOLE_KEPT = 961,           /* test_rank_jobs: members behind one that is left out stay where they were */
    FAULT_JOBS_UNTOLD = 962,         /* test_rank_jobs: callers do not hear of what other ranks train */
    FAULT_ASKED_APART = 722,         /* test_ranks: and along orderings of its own */
    FAULT_CD_STEPS_FIXED = 560,      /* test_rbm_train: contrastive divergence has all its steps from the beginning */
    FAULT_TURNED_BIASES = 561,       /* test_rbm: a machine that begins as another turned over lacks its biases */
    FAULT_RBM_RATE_FIXED = 562,      /* test_rbm_train: the rate stays what it was at the first update */
    FAULT_FIRST_TRAINED = 563,       /* test_rbm_runs: a first layer that is given is trained anew */
    FAULT_MACHINE_CUT = 564,         /* paper_rbm: a file that ends within the parameters is taken for a machine */
    FAULT_CENTERED_BIASES = 565,     /* test_rbm_train: biases do not make up for the means units are counted from */
    FAULT_ESTIMATE_OF_SOME = 566,    /* paper_rbm: the figure of a DBN is that of the rows with an estimate alone */
    FAULT_TRIAL_SCORED = 745,        /* paper_trial: test rows are scored in spite of --no-test */
    FAULT_ZEROS_DROPPED = 723,       /* test_awkward: a column that always has two decimals is one of any */
    FAULT_BRACKETS_TEXT = 780,       /* accounting: a number in brackets is a text */
    FAULT_MINUS_FIRST = 781,         /* accounting: negative numbers come back with a minus in front */
    FAULT_DURATIONS_TEXT = 782,      /* durations: durations are texts */
    FAULT_PLAIN_DECIMALS = 784,      /* shared_decimals: plain numbers have as many decimals as they need */
    FAULT_MINUTES_UNSTEPPED = 785,   /* durations: few cells without seconds have the seconds as their step */
    FAULT_DAY_ENDLESS = 786,         /* durations: times of day go on behind midnight */
    FAULT_NEGATIVE_WRITTEN = 787,    /* accounting: earlier versions would take brackets for units */
    FAULT_SENTINEL_ASKED = 788,      /* sentinels: a missing cell's number has a probability, of 0 */
    FAULT_UNASKED_REFUSED = 789,     /* predict: text in columns that are neither asked for nor given is refused */
    FAULT_FORM_UNNAMED = 790,        /* number_forms: what is no number as its column writes them hears of no form */
    FAULT_SHORT_UNEXPECTED = 791,    /* number_forms: of few rows the model's form is not known */
    FAULT_OTHER_MINUS = 792,         /* accounting: a minus behind digits is none where brackets are */
    FAULT_IMPOSSIBLE_MISSED = 793,   /* predict: a truth that its column can't have is outside the interval */
    FAULT_ONE_LACKING = 794,         /* predict: of columns that a table lacks the first alone is named */
    FAULT_SENTINEL_DECIMALS = 795,   /* sentinels: cells that are missing take part in how numbers are written */
    FAULT_OFF_STEPS_UNSAID = 796,    /* prices: nobody hears that a value is none of its column's */
    FAULT_MEAN_OF_SECONDS = 797,     /* durations: means of durations have all decimals of a double */
    FAULT_DURATION_MINUTES = 783,    /* durations: hours and minutes are counted in minutes */
    FAULT_DATES_IN_ONE_FORM = 735,   /* date_columns: scored dates must be in the form of training */
    FAULT_FIRST_WEEK_KEPT = 972,     /* test_date_head: dates scored together have the first one's week */
    FAULT_FILLED_IN_UTF8 = 724,      /* number_forms: a file in Windows-1252 is filled with UTF-8 */
    FAULT_SAMPLE_SPREAD = 641,       /* mapped_array: rare values of a mapped array are not in its sample */
    FAULT_SAMPLE_ENDS = 734,         /* mapped_array: the least and largest number of a mapped column are not in it */
    FAULT_SAMPLES_REVERSED = 970,    /* test_shared_rows: what ranks saw is merged from the last to the first */
    FAULT_SHARED_ROW_BESIDE = 971,   /* test_shared_rows: a rank gives the row behind the one that is wanted */
    FAULT_SECONDS_AS_MINUTES = 987,  /* durations: minutes and seconds are read as hours and minutes */
    FAULT_BOUND_WITHIN = 984,        /* test_number_shape: an atom at a bound lies within what Gaussians reach */
    FAULT_SHARDS_UNNAMED = 974,      /* shards: files of a table may have other names in their first lines */
    FAULT_PART_GUESSED = 973,        /* mpi_data: a part of a text begins where its rank guessed that it does */
    FAULT_TIE_UNSEEN = 640,          /* test_numbers: digits behind the middle between two doubles are not seen */
    FAULT_SHARED_GROUP = 748,        /* test_kernels: real cells of a row that are taken together share their scratch */
    FAULT_AUGMENT_WHOLE = 990,       /* test_augment: rows are drawn from a mixture of rows that are not trained on */
    FAULT_AUGMENT_BETWEEN = 992,     /* test_augment: values are drawn that a column of few values does not have */
    FAULT_AUGMENT_ANYWHERE = 993,    /* test_augment: numbers are drawn beyond bounds and between recording steps */
    FAULT_AUGMENT_FAR = 996,         /* test_augment: one cell far away is all that drawn rows know of its column */
    FAULT_COPIES_VALIDATE = 997,     /* test_augment: copies of rows validate the mixture that has learnt them */
    FAULT_AUGMENT_LABELS = 998,      /* test_augment: labels and frequent values are drawn like other numbers */
    FAULT_AUGMENT_SHORT = 994,       /* test_recipe: candidates with drawn rows have no longer iterations */
    FAULT_LANES_ONE_LENGTH = 995,    /* test_few_components: of runs side by side all have the longest's updates */
    FAULT_QUOTE_NOT_DOUBLED = 172,   /* impute_rows: a quote in a label ends its field */
};

#ifdef NADE_SEEDED_FAULTS
extern int nd_fault;
#else
enum { nd_fault = FAULT_NONE };
#endif

#define ND_FAULT(fault) (nd_fault == (int)(fault))

#endif
