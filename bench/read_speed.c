/* How fast tables are read (docs/reading.md): megabytes a second of processor time, and by the clock.
 *
 *   build/read_speed [MEGABYTES [FILE...]]
 *
 * Without files, it makes tables of this size (200) in the folder TMPDIR (/tmp) and removes them again: decimals, a
 * mixed one, quoted texts, the mixed one gzip'ed, and an NPY array of floats.  The best of three; MB are of text, of
 * the gzip'ed file those that it unpacks to.  "parts": by nade_reader, as streams are. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "nade/nade.h"

enum { TIMES = 3, COLUMNS = 20, PART_ROWS = 4096, PATH_SIZE = 512 };

static void fail(const char *what)
{
    fprintf(stderr, "read_speed: %s\n", what);
    exit(1);
}

/* ---- tables ----------------------------------------------------------------------------------------------------- */

static unsigned draw(unsigned range)
{
    static unsigned long long seed = 1;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((seed >> 33) % range);
}

static const char *pick(const char *const *words, unsigned count)
{
    return words[draw(count)];
}

static size_t put_decimals(FILE *file)
{
    int used = 0;
    for (int i = 0; i < COLUMNS; i++)
        used +=
            fprintf(file, "%s%u.%06u%c", draw(2) ? "-" : "", draw(400), draw(1000000), i + 1 < COLUMNS ? ',' : '\n');
    return (size_t)used;
}

static size_t put_mixed(FILE *file)
{
    static const char *const work[] = {"Private", "State-gov", "Self-emp-not-inc", "Federal-gov", "?", "Local-gov"};
    static const char *const school[] = {"Bachelors", "HS-grad", "11th", "Masters", "Some-college", "Doctorate"};
    static const char *const married[] = {"Never-married", "Married-civ-spouse", "Divorced", "Widowed"};
    static const char *const land[] = {"United-States", "Mexico", "Germany", "Cuba", "India", "Philippines"};
    return (size_t)fprintf(file, "%u,%s,%u,%s,%u,%s,%s,%u,%u,%u,%s,%s\n", 17 + draw(74), pick(work, 6),
                           12000 + draw(500000), pick(school, 6), 1 + draw(16), pick(married, 4),
                           draw(2) ? "Male" : "Female", draw(10) ? 0 : draw(99999), draw(20) ? 0 : draw(4000),
                           1 + draw(99), pick(land, 6), draw(4) ? "<=50K" : ">50K");
}

static size_t put_quoted(FILE *file)
{
    static const char *const words[] = {"\"red, dark\"", "\"green\"", "\"blue \"\"sky\"\"\"", "\"none of these\""};
    return (size_t)fprintf(file, "\"%u\",%s,%s,\"%u.%02u\",%s,\"%u\"\n", draw(100000), pick(words, 4), pick(words, 4),
                           draw(1000), draw(100), pick(words, 4), draw(50));
}

static void make_text(const char *path, size_t bytes, const char *names, size_t (*put_row)(FILE *))
{
    FILE *file = fopen(path, "w");
    if (!file) fail("no table can be written");
    fputs(names, file);
    for (size_t made = 0; made < bytes;) made += put_row(file);
    if (fclose(file) != 0) fail("no table can be written");
}

static void make_gzip(const char *from, const char *path)
{
    char command[2 * PATH_SIZE + 32];
    snprintf(command, sizeof command, "gzip -c '%s' >'%s'", from, path);
    if (system(command) != 0) fail("no table can be packed");
}

static void make_array(const char *path, size_t bytes)
{
    size_t rows = bytes / (COLUMNS * sizeof(float));
    FILE *file = fopen(path, "w");
    if (!file) fail("no table can be written");
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file);
    int used = fprintf(file, "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %d), }", rows, COLUMNS);
    fprintf(file, "%*s\n", 0x76 - used - 1, "");
    for (size_t i = 0; i < rows * COLUMNS; i++) {
        float number = (float)draw(1000000) / 1000.0f;
        fwrite(&number, sizeof number, 1, file);
    }
    if (fclose(file) != 0) fail("no table can be written");
}

/* ---- times ------------------------------------------------------------------------------------------------------ */

static double seconds_of(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void read_whole(nade_context *context, const char *path)
{
    nade_table *table = NULL;
    if (nade_table_read(context, path, NULL, &table) != NADE_OK) fail(nade_last_error(context));
    nade_table_free(table);
}

static void read_parts(nade_context *context, const char *path)
{
    nade_reader *reader = NULL;
    nade_table *part = NULL;
    if (nade_reader_open(context, path, NULL, &reader) != NADE_OK) fail(nade_last_error(context));
    do {
        nade_table_free(part);
        if (nade_reader_next(context, reader, PART_ROWS, &part) != NADE_OK) fail(nade_last_error(context));
    } while (part);
    nade_reader_free(reader);
}

static void measure(nade_context *context, const char *what, const char *path, size_t bytes, bool parts)
{
    double processor = 0, clock = 0;
    for (int i = 0; i < TIMES; i++) {
        double p = seconds_of(CLOCK_PROCESS_CPUTIME_ID), c = seconds_of(CLOCK_MONOTONIC);
        (parts ? read_parts : read_whole)(context, path);
        p = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - p;
        c = seconds_of(CLOCK_MONOTONIC) - c;
        if (i == 0 || p < processor) processor = p;
        if (i == 0 || c < clock) clock = c;
    }
    double megabytes = 1e-6 * (double)bytes;
    printf("%-32s %7.0f MB/s of processor time %7.0f MB/s by the clock\n", what, megabytes / processor,
           megabytes / clock);
    fflush(stdout);
}

static size_t file_bytes(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) fail("a table can't be opened");
    return (size_t)info.st_size;
}

/* ---- the tables that it makes ------------------------------------------------------------------------------------ */

enum { DECIMALS, MIXED, QUOTED, PACKED, ARRAY, FILES };

static void make_files(size_t bytes, char path[FILES][PATH_SIZE])
{
    static const char *const ends[FILES] = {"decimals.csv", "mixed.csv", "quoted.csv", "mixed.csv.gz", "array.npy"};
    static const char decimals[] = "c0,c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12,c13,c14,c15,c16,c17,c18,c19\n";
    const char *folder = getenv("TMPDIR");
    for (int i = 0; i < FILES; i++)
        snprintf(path[i], PATH_SIZE, "%s/read_speed_%ld_%s", folder ? folder : "/tmp", (long)getpid(), ends[i]);
    make_text(path[DECIMALS], bytes, decimals, put_decimals);
    make_text(path[MIXED], bytes, "age,work,weight,school,years,married,sex,gain,loss,hours,land,income\n", put_mixed);
    make_text(path[QUOTED], bytes, "\"key\",\"a\",\"b\",\"price\",\"c\",\"d\"\n", put_quoted);
    make_gzip(path[MIXED], path[PACKED]);
    make_array(path[ARRAY], bytes);
}

static void measure_made(nade_context *context, size_t bytes)
{
    char path[FILES][PATH_SIZE];
    make_files(bytes, path);
    measure(context, "decimals", path[DECIMALS], file_bytes(path[DECIMALS]), false);
    measure(context, "decimals, parts", path[DECIMALS], file_bytes(path[DECIMALS]), true);
    measure(context, "mixed", path[MIXED], file_bytes(path[MIXED]), false);
    measure(context, "mixed, parts", path[MIXED], file_bytes(path[MIXED]), true);
    measure(context, "quoted", path[QUOTED], file_bytes(path[QUOTED]), false);
    measure(context, "mixed, gzip'ed", path[PACKED], file_bytes(path[MIXED]), false);
    measure(context, "array of floats", path[ARRAY], file_bytes(path[ARRAY]), false);
    for (int i = 0; i < FILES; i++) unlink(path[i]);
}

int main(int count, char **arguments)
{
    size_t megabytes = count > 1 ? strtoul(arguments[1], NULL, 10) : 200;
    nade_context *context = NULL;
    if (nade_context_create(NULL, &context) != NADE_OK) return 1;
    for (int i = 2; i < count; i++) measure(context, arguments[i], arguments[i], file_bytes(arguments[i]), false);
    if (count < 3) measure_made(context, megabytes * 1000000);
    nade_context_free(context);
    return 0;
}
