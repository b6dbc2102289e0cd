#include "backend/cuda/train/cuda_streams.h"

#include "base/context.h"

static void open_stream(struct cuda_work *work, cudaStream_t *stream)
{
    if (work->status == NADE_OK)
        nd_work_note(work, cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "opening a stream");
}

static void make_event(struct cuda_work *work, cudaEvent_t *event)
{
    if (work->status == NADE_OK)
        nd_work_note(work, cudaEventCreateWithFlags(event, cudaEventDisableTiming), "making an event");
}

void nd_streams_open(struct cuda_work *work, struct update_streams *streams, struct arena *arena)
{
    size_t layers = work->backend->plan->layers + 1;
    streams->main = work->backend->stream;
    open_stream(work, &streams->gradients);
    open_stream(work, &streams->steps);
    open_stream(work, &streams->draws);
    if (work->backend->plan->direct) open_stream(work, &streams->direct);
    for (int i = 0; i < ND_DRAWN; i++) {
        make_event(work, &streams->drawn[i]);
        make_event(work, &streams->freed[i]);
    }
    make_event(work, &streams->delta);
    make_event(work, &streams->below);
    make_event(work, &streams->gradients_done);
    make_event(work, &streams->factor);
    make_event(work, &streams->begun);
    make_event(work, &streams->direct_done);
    make_event(work, &streams->vectors_stepped);
    streams->gradient = nd_arena_alloc(arena, layers, sizeof *streams->gradient);
    streams->step = nd_arena_alloc(arena, layers, sizeof *streams->step);
    if (!streams->gradient || !streams->step) {
        work->status = nd_no_memory(work->context, "training");
        return;
    }
    for (size_t l = 0; l < layers; l++) {
        make_event(work, &streams->gradient[l]);
        make_event(work, &streams->step[l]);
    }
}

void nd_streams_need_workspaces(struct cuda_work *work, struct update_streams *streams)
{
    int count = work->backend->plan->direct ? WORKSPACES : WORKSPACE_DIRECT;
    for (int i = 0; i < count && work->status == NADE_OK; i++)
        if (!streams->workspace[i])
            work->status = nd_cuda_alloc(work->context, &streams->workspace[i], ND_PRODUCT_WORKSPACE, 1, "products");
}

static void close_stream(cudaStream_t stream)
{
    if (stream) cudaStreamDestroy(stream);
}

static void destroy_event(cudaEvent_t event)
{
    if (event) cudaEventDestroy(event);
}

void nd_streams_close(struct update_streams *streams, size_t layers)
{
    for (size_t l = 0; l < layers && streams->gradient && streams->step; l++) {
        destroy_event(streams->gradient[l]);
        destroy_event(streams->step[l]);
    }
    for (int i = 0; i < ND_DRAWN; i++) {
        destroy_event(streams->drawn[i]);
        destroy_event(streams->freed[i]);
    }
    destroy_event(streams->delta);
    destroy_event(streams->below);
    destroy_event(streams->gradients_done);
    destroy_event(streams->factor);
    destroy_event(streams->begun);
    destroy_event(streams->direct_done);
    destroy_event(streams->vectors_stepped);
    for (int i = 0; i < WORKSPACES; i++) nd_cuda_free(streams->workspace[i]);
    close_stream(streams->gradients);
    close_stream(streams->steps);
    close_stream(streams->draws);
    close_stream(streams->direct);
}
