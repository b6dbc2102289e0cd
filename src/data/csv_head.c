#include "data/csv_head.h"

void nd_head_begin(struct csv_head *head, const struct source *source, struct csv_dialect dialect)
{
    nd_source_view(source, &head->bytes);
    head->whole = source->ended;
    nd_csv_begin(&head->csv, &head->bytes, dialect);
}

enum csv_result nd_head_next(struct csv_head *head)
{
    enum csv_result result;
    do {
        result = nd_csv_next(&head->csv);
        if (result == CSV_NO_MEMORY) return result;
        if (result != CSV_ROW) return CSV_END;
    } while (nd_csv_blank(&head->csv));
    return head->whole || nd_source_available(&head->bytes) > 0 ? CSV_ROW : CSV_END;
}
