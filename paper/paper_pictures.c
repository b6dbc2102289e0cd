#include "paper_pictures.h"

#include "picture_work.h"
#include "report.h"

/* Pictures that one recipe's model makes. */
static const struct subject {
    const char *recipe, *pictures;
    int (*draw)(struct picture_work *work);
} subjects[] = {
    {"mnist-2hl", "the pictures of digits", draw_digit_pictures},
    {"bsds300-6hl", "the pictures of patches", draw_patch_pictures},
};

static int draw_subject(struct picture_work *work, const struct subject *subject)
{
    int status = picture_open(work, subject->recipe);
    if (!status) status = picture_load(work, subject->pictures);
    if (!status && work->model) status = subject->draw(work);
    picture_close(work);
    return status;
}

int paper_pictures(const struct paper_job *job, const char *folder)
{
    struct picture_work work = {.job = *job, .folder = folder, .made = json_array()};
    int status = work.made ? EXIT_DONE : report_no_memory(job->common);
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects && !status; i++)
        status = draw_subject(&work, &subjects[i]);
    if (!status) status = draw_curve_picture(&work);
    if (!status && json_array_size(work.made) == 0)
        status = report_error(job->common, NADE_BAD_INPUT,
                              "%s holds none of the models and results that the figures are made of", job->results);
    if (!status && job->common->json) status = report_json(json_pack("{s:O}", "pictures", work.made));
    json_decref(work.made);
    return status;
}
