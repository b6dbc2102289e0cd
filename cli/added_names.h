/* Columns that impute adds to a table must not have the names of others. */
#ifndef CLI_ADDED_NAMES_H
#define CLI_ADDED_NAMES_H

#include "filled_rows.h"

struct added_names {
    const char *data; /* the file, for messages */
    enum filled_form form;
    size_t draws; /* numbered lines or columns are written; 0: none */
    bool ends;    /* of intervals too */
};

/* 0, or an exit status after the error has been reported. */
int check_added_names(const struct common *common, const nade_model *model, const nade_table *table,
                      const struct added_names *added);

#endif
