#include "advice.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/fault.h"

/* What a sentence of the library has, and what the command says instead.  A % with its letters stands for any text,
 * which comes again at the % of what is said.  tools/check-layers looks whether src/ still has each of these. */
static const struct wording {
    const char *library, *command;
} wordings[] = {
    {"leave column '%s' out", "leave the column out with --drop %s"},
    {"leave column %zu out", "leave one out with --drop %s"},
    {"leave such columns out", "leave the column out with --drop"},
    {"leave names of rows out", "leave names of rows out with --drop"},
    {"leave their rows or columns out", "leave out their rows, or the column with --drop"},
    {"make column '%s' categorical", "give --categorical %s"},
    {"the list of columns whose absence is a value", "--missing-as-value"},
    {"name the form of its dates", "name its form, as in --date-form COL=DD/MM/YYYY"},
    {"the list of columns to keep", "--keep"},
    {"name the columns to keep if something can", "--keep COLS keeps them"},
    {"the list of columns that keep their sentinels", "--keep-sentinels"},
    {"name the columns that keep their sentinels if these are values",
     "if they are values, name the columns with --keep-sentinels"},
    {"the list of %s columns", "--%s"},
    {"`unseen_missing`, which makes it a missing cell", "--unseen missing, which makes it a missing cell"},
    {"training with `resume` goes on from it", "nade train --resume goes on from it"},
    {"name the text in `missing`", "name the text with --na"},
    {"name the marks in `decimal` and `thousands`", "give --decimal or --thousands"},
    {"name the mark in `decimal`", "give --decimal"},
    {"name the mark in `thousands`", "give --thousands"},
    {"name one in `array`", "name one with --array"},
    {"`columns`", "--columns"},
    {"`drop`", "--drop"},
    {"`of`", "--of"},
    {"`given`", "--given"},
    {"name what need not be there in `may_lack`", "name those that it has with --given"},
    {"`may_lack`", "--of"},
    {"`delimiter`", "--delimiter"},
    {"`hidden`", "--hidden"},
    {"`batch`", "--batch"},
    {"`blocks`", "--blocks"},
    {"`width`", "--width"},
    {"`dropout`", "--dropout"},
    {"`direct`", "--direct"},
    {"`direct_decay`", "--direct-decay"},
    {"`activation`", "--activation"},
    {"`pretrain`", "--pretrain"},
    {"`max_memory`", "--max-memory"},
    {"trained with `holes`", "made by nade train --holes"},
    {"`holes`", "--holes"},
    {"`map`", "--map"},
    {"`folds`", "--folds"},
    {"`effort`", "--effort"},
    {"`members`", "--members"},
    {"`components`", "--components"},
    {"`bootstrap`", "--bootstrap"},
    {"`focus`", "--focus"},
    {"`augment`", "--augment"},
    {"`factors`", "--factors"},
    {"`prior`", "--prior"},
    {"make it real, leave it out, or take the kind mixture", "give --real or --drop, or --kind mixture"},
    {"take the kind mog", "give --kind mog"},
    {"the column of weights", "--weights"},
    {"the column of groups", "--groups"},
    {"the column to split by", "--split-by"},
};

/* A stretch of the sentence that a wording takes the place of, and the text within that its % stands for. */
struct match {
    const struct wording *wording;
    size_t length;
    const char *any;
    size_t any_length;
};

/* Whether the text begins with this wording. */
static bool begins_with(const char *text, const struct wording *wording, struct match *match)
{
    const char *library = wording->library, *percent = strchr(library, '%');
    size_t before = percent ? (size_t)(percent - library) : strlen(library);
    *match = (struct match){.wording = wording, .length = before, .any = ""};
    if (strncmp(text, library, before) != 0) return false;
    if (!percent) return true;
    const char *after = percent + 1 + strspn(percent + 1, "suz");
    const char *end = strstr(text + before, after);
    if (!end) return false;
    match->any = text + before;
    match->any_length = (size_t)(end - match->any);
    match->length = before + match->any_length + strlen(after);
    return true;
}

static bool find_match(const char *text, struct match *match)
{
    for (size_t i = 0; i < sizeof wordings / sizeof *wordings; i++)
        if (begins_with(text, &wordings[i], match)) return true;
    return false;
}

/* Of a word, so that the ' of "row's" or "can't" beside it is no quote. */
static bool is_letter(char byte)
{
    return isalnum((unsigned char)byte) || (byte & 0x80);
}

/* Bytes of the quoted text that begins here, quotes included; 0 where none does.  Such texts are the user's: a column
 * may be named as our options are.  before: the byte before it. */
static size_t quoted_length(const char *text, char before)
{
    if (*text != '\'' || is_letter(before)) return 0;
    for (const char *end = strchr(text + 1, '\''); end; end = strchr(end + 1, '\''))
        if (!is_letter(end[1])) return (size_t)(end - text) + 1;
    return 0;
}

/* What the command writes; *used grows to at most size - 1. */
static void append(char *buffer, size_t size, size_t *used, const char *text, size_t length)
{
    size_t room = size - 1 - *used;
    if (length > room) length = room;
    memcpy(buffer + *used, text, length);
    *used += length;
}

/* Whether a shell takes the byte as it is. */
static bool is_plain(char byte)
{
    return is_letter(byte) || strchr("_.,:/@%+=-", byte);
}

/* A column's name as a flag takes it from a shell: in double quotes for the list of columns where it has a comma, a
 * blank at an end or a quote in front, and all in single quotes for the shell where it must be. */
static void append_name(char *buffer, size_t size, size_t *used, const char *name, size_t length)
{
    bool listed = length > 0 && (memchr(name, ',', length) || strchr(" \t\"'", name[0]) || name[length - 1] == ' ');
    bool plain = !listed;
    for (size_t i = 0; i < length; i++) plain = plain && is_plain(name[i]);
    if (!plain) append(buffer, size, used, listed ? "'\"" : "'", listed ? 2 : 1);
    for (size_t i = 0; i < length; i++) {
        if (name[i] == '\'')
            append(buffer, size, used, "'\\'", 3);
        else if (name[i] == '"' && listed)
            append(buffer, size, used, "\"", 1);
        append(buffer, size, used, name + i, 1);
    }
    if (!plain) append(buffer, size, used, listed ? "\"'" : "'", listed ? 2 : 1);
}

static void append_match(char *buffer, size_t size, size_t *used, const struct match *match)
{
    const char *command = match->wording->command, *percent = strchr(command, '%');
    size_t before = percent ? (size_t)(percent - command) : strlen(command);
    append(buffer, size, used, command, before);
    if (percent && !ND_FAULT(FAULT_FLAG_WITHOUT_NAME)) append_name(buffer, size, used, match->any, match->any_length);
}

const char *with_flags(const char *sentence, char *buffer, size_t size)
{
    size_t used = 0, taken = 0;
    struct match match;
    for (char before = ' '; *sentence; before = sentence[taken - 1], sentence += taken) {
        if (find_match(sentence, &match)) {
            append_match(buffer, size, &used, &match);
            taken = match.length;
        } else {
            size_t quoted = quoted_length(sentence, before);
            taken = quoted ? quoted : 1;
            append(buffer, size, &used, sentence, taken);
        }
    }
    buffer[used] = '\0';
    return buffer;
}
