/* Streams run beside each other within an update.  On `main` the rows go forward, the losses and what they send down
 * the layers go back; on `gradients` each layer's weight gradient is computed as soon as its delta is there, and on
 * `steps` the layer's parameters move as soon as its gradient is there and nobody needs the old ones any more; on
 * `draws` the next update's rows and masks are drawn meanwhile.  The next update's layer l waits for layer l's step
 * alone.  A residual network's linear path has the stream `direct` for its product, gradient and step. */
#include "backend/cuda/train/cuda_update.h"

#include "backend/cuda/train/cuda_residual_pass.h"

void nd_update_wait(struct cuda_work *work, cudaStream_t stream, cudaEvent_t event)
{
    if (work->status == NADE_OK) nd_work_note(work, cudaStreamWaitEvent(stream, event, 0), "ordering the work");
}

void nd_update_record(struct cuda_work *work, cudaEvent_t event, cudaStream_t stream)
{
    if (work->status == NADE_OK) nd_work_note(work, cudaEventRecord(event, stream), "ordering the work");
}

/* Begins the stream `direct`, once nobody reads the outputs of the update before. */
static void put_direct(struct cuda_work *work, struct update_streams *streams, struct cuda_pass *pass, int which)
{
    if (!work->backend->plan->direct) return;
    nd_update_record(work, streams->begun, streams->main);
    nd_update_wait(work, streams->direct, streams->begun);
    nd_pass_direct(work, pass, which, streams->workspace[WORKSPACE_DIRECT], streams->direct);
    nd_update_record(work, streams->direct_done, streams->direct);
}

void nd_update_forward(struct cuda_work *work, struct update_streams *streams, struct cuda_pass *pass, int which,
                       bool after_another)
{
    const struct plan *plan = work->backend->plan;
    nd_update_wait(work, streams->main, streams->drawn[which]);
    if (after_another) nd_update_wait(work, streams->main, streams->gradients_done);
    put_direct(work, streams, pass, which);
    for (size_t l = 0; l <= plan->layers; l++) {
        if (after_another && l > 0) nd_update_wait(work, streams->main, streams->step[l]);
        if (l == plan->layers && plan->direct) nd_update_wait(work, streams->main, streams->direct_done);
        nd_pass_forward(work, pass, l, which, streams->workspace[WORKSPACE_MAIN], streams->main);
        if (after_another && l == 0 && plan->blocks) nd_update_wait(work, streams->main, streams->vectors_stepped);
        nd_pass_activate(work, pass, l, streams->main);
    }
}

/* Whether steps come once the whole gradient is known. */
static bool is_clipped(const struct step_way *steps)
{
    return steps && steps->clip > 0;
}

/* What follows a gradient where it is clipped. */
static void put_squares(struct cuda_work *work, const struct step_way *steps, size_t number, cudaStream_t stream)
{
    if (is_clipped(steps)) nd_cuda_put_squares(work, steps, number, stream);
}

/* The linear path's gradient and step, once the outputs' deltas are there. */
static void put_direct_gradient(struct cuda_work *work, struct update_streams *streams, struct cuda_pass *pass,
                                int which, const struct step_way *steps, uint32_t offset)
{
    size_t number = nd_cuda_direct_job(work->backend);
    nd_update_wait(work, streams->direct, streams->delta);
    nd_pass_direct_gradient(work, pass, which, streams->workspace[WORKSPACE_DIRECT], streams->direct);
    put_squares(work, steps, number, streams->direct);
    if (steps && !is_clipped(steps)) nd_cuda_put_step(work, steps, number, offset, streams->direct);
    nd_update_record(work, streams->direct_done, streams->direct);
}

/* The vectors' gradients and their step, once the batch has gone back through all blocks. */
static void put_vector_gradients(struct cuda_work *work, struct update_streams *streams, struct cuda_pass *pass,
                                 const struct step_way *steps, uint32_t offset)
{
    size_t number = nd_cuda_vector_job(work->backend);
    nd_update_record(work, streams->delta, streams->main);
    nd_update_wait(work, streams->gradients, streams->delta);
    nd_pass_vector_gradients(work, pass, streams->gradients);
    put_squares(work, steps, number, streams->gradients);
    if (!steps || is_clipped(steps)) return;
    nd_update_record(work, streams->below, streams->gradients);
    nd_update_wait(work, streams->steps, streams->below);
    nd_cuda_put_step(work, steps, number, offset, streams->steps);
    nd_update_record(work, streams->vectors_stepped, streams->steps);
}

/* A layer's gradient, from layer 1 on, while its delta goes back through it; with steps that are not clipped its step.
 */
static void put_layer_back(struct cuda_work *work, struct update_streams *streams, struct cuda_pass *pass, size_t l,
                           int which, const struct step_way *steps, uint32_t offset)
{
    const struct plan *plan = work->backend->plan;
    nd_update_record(work, streams->delta, streams->main);
    nd_update_wait(work, streams->gradients, streams->delta);
    nd_pass_gradient(work, pass, l, which, streams->workspace[WORKSPACE_GRADIENTS], streams->gradients);
    put_squares(work, steps, l, streams->gradients);
    nd_update_record(work, streams->gradient[l], streams->gradients);
    if (l == plan->layers && plan->direct) put_direct_gradient(work, streams, pass, which, steps, offset);
    if (l == plan->layers && plan->blocks) nd_pass_output_bias(work, pass, streams->gradients);
    nd_pass_backward(work, pass, l, streams->workspace[WORKSPACE_MAIN], streams->main);
    nd_pass_slope(work, pass, l, streams->main);
    if (!steps || is_clipped(steps)) return;
    nd_update_record(work, streams->below, streams->main);
    nd_update_wait(work, streams->steps, streams->gradient[l]);
    nd_update_wait(work, streams->steps, streams->below);
    nd_cuda_put_step(work, steps, l, offset, streams->steps);
    nd_update_record(work, streams->step[l], streams->steps);
}

/* The steps of a gradient that is clipped; the first layer's is left to main. */
static void put_clipped_steps(struct cuda_work *work, struct update_streams *streams, const struct step_way *steps,
                              uint32_t offset)
{
    const struct plan *plan = work->backend->plan;
    nd_update_wait(work, streams->main, streams->gradients_done);
    nd_cuda_put_factor(work, steps, streams->main);
    nd_update_record(work, streams->factor, streams->main);
    nd_update_wait(work, streams->steps, streams->factor);
    if (plan->blocks) {
        nd_cuda_put_step(work, steps, nd_cuda_vector_job(work->backend), offset, streams->steps);
        nd_update_record(work, streams->vectors_stepped, streams->steps);
    }
    for (size_t l = 1; l <= plan->layers; l++) {
        nd_cuda_put_step(work, steps, l, offset, streams->steps);
        nd_update_record(work, streams->step[l], streams->steps);
    }
    if (!plan->direct) return;
    nd_update_wait(work, streams->direct, streams->factor);
    nd_cuda_put_step(work, steps, nd_cuda_direct_job(work->backend), offset, streams->direct);
    nd_update_record(work, streams->direct_done, streams->direct);
}

void nd_update_backward(struct cuda_work *work, struct update_streams *streams, struct cuda_pass *pass, int which,
                        const struct step_way *steps, uint32_t offset)
{
    const struct plan *plan = work->backend->plan;
    for (size_t l = plan->layers; l > 0; l--) put_layer_back(work, streams, pass, l, which, steps, offset);
    if (plan->blocks) put_vector_gradients(work, streams, pass, steps, offset);
    nd_update_record(work, streams->gradients_done, streams->gradients);
    nd_pass_gradient(work, pass, 0, which, streams->workspace[WORKSPACE_MAIN], streams->main);
    put_squares(work, steps, 0, streams->main);
    if (plan->direct) nd_update_wait(work, streams->main, streams->direct_done);
    nd_update_record(work, streams->freed[which], streams->main);
    if (is_clipped(steps)) put_clipped_steps(work, streams, steps, offset);
    if (steps) nd_cuda_put_step(work, steps, 0, offset, streams->main);
}

void nd_update_join(struct cuda_work *work, struct update_streams *streams, bool steps)
{
    const struct plan *plan = work->backend->plan;
    nd_update_wait(work, streams->main, streams->gradients_done);
    for (size_t l = 1; steps && l <= plan->layers; l++) nd_update_wait(work, streams->main, streams->step[l]);
    if (steps && plan->blocks) nd_update_wait(work, streams->main, streams->vectors_stepped);
    if (steps && plan->direct) nd_update_wait(work, streams->main, streams->direct_done);
}

void nd_update_outputs(struct cuda_work *work, struct update_streams *streams, struct cuda_pass *pass)
{
    const struct plan *plan = work->backend->plan;
    void *workspace = streams->workspace[WORKSPACE_MAIN];
    if (plan->direct) nd_pass_direct(work, pass, 0, workspace, streams->main);
    for (size_t l = 0; l <= plan->layers; l++) {
        nd_pass_forward(work, pass, l, 0, workspace, streams->main);
        nd_pass_activate(work, pass, l, streams->main);
    }
}
