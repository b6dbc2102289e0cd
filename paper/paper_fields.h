/* How the keys of a recipe are read: tables that say what each must hold and where it goes. */
#ifndef PAPER_FIELDS_H
#define PAPER_FIELDS_H

#include "paper_recipe.h"

enum field_kind {
    FIELD_OBJECT, /* read by itself */
    FIELD_TEXT,   /* const char * */
    FIELD_FLAG,   /* int */
    FIELD_CHOICE, /* an enum */
    FIELD_SIZE,   /* size_t */
    FIELD_U64,    /* uint64_t */
    FIELD_REAL,   /* double */
    FIELD_SIZES,  /* struct size_list */
    FIELD_REALS   /* struct real_list */
};

struct field {
    const char *key;
    enum field_kind kind;
    size_t offset; /* in a struct paper_recipe */
    bool optional;
    bool repeats;       /* lists: a number may be there twice */
    double least, most; /* of numbers */
    const struct choice *choices;
};

/* The state of one parse. */
struct reading {
    const struct common *common;
    struct paper_recipe *recipe;
    const char *inside; /* the object that is read, with a dot: "training."; "" for the recipe itself */
};

/* Reports that the key of the object at hand must be what is expected; an exit status. */
int refuse_key(const struct reading *reading, const char *key, const char *expected);

/* Reads all fields that must be there, and those that may; any other key is refused.  0 or an exit status. */
int read_fields(const struct reading *reading, json_t *object, const struct field *fields, size_t count);

#endif
