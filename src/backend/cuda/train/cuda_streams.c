#include "backend/cuda/train/cuda_streams.h"

static void open_lane(struct cuda_work *work, cudaStream_t *stream)
{
    if (work->status == NADE_OK)
        nd_work_note(work, cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "opening a stream");
}

static void make_event(struct cuda_work *work, cudaEvent_t *event)
{
    if (work->status == NADE_OK)
        nd_work_note(work, cudaEventCreateWithFlags(event, cudaEventDisableTiming), "making an event");
}

void nd_lanes_open(struct cuda_work *work, struct lanes *lanes, struct arena *arena)
{
    size_t layers = work->backend->plan->layers + 1;
    open_lane(work, &lanes->main);
    open_lane(work, &lanes->gradients);
    open_lane(work, &lanes->steps);
    open_lane(work, &lanes->draws);
    for (int i = 0; i < ND_DRAWN; i++) {
        make_event(work, &lanes->drawn[i]);
        make_event(work, &lanes->freed[i]);
    }
    make_event(work, &lanes->delta);
    make_event(work, &lanes->below);
    make_event(work, &lanes->gradients_done);
    lanes->gradient = nd_arena_alloc(arena, layers, sizeof *lanes->gradient);
    lanes->step = nd_arena_alloc(arena, layers, sizeof *lanes->step);
    if (!lanes->gradient || !lanes->step) {
        work->status = nd_no_memory(work->context, "training");
        return;
    }
    for (size_t l = 0; l < layers; l++) {
        make_event(work, &lanes->gradient[l]);
        make_event(work, &lanes->step[l]);
    }
}

void nd_lanes_need_workspaces(struct cuda_work *work, struct lanes *lanes)
{
    for (int i = 0; i < 2 && work->status == NADE_OK; i++)
        if (!lanes->workspace[i])
            work->status = nd_cuda_alloc(work->context, &lanes->workspace[i], ND_PRODUCT_WORKSPACE, 1, "products");
}

static void close_stream(cudaStream_t stream)
{
    if (stream) cudaStreamDestroy(stream);
}

static void destroy_event(cudaEvent_t event)
{
    if (event) cudaEventDestroy(event);
}

void nd_lanes_close(struct lanes *lanes, size_t layers)
{
    for (size_t l = 0; l < layers && lanes->gradient && lanes->step; l++) {
        destroy_event(lanes->gradient[l]);
        destroy_event(lanes->step[l]);
    }
    for (int i = 0; i < ND_DRAWN; i++) {
        destroy_event(lanes->drawn[i]);
        destroy_event(lanes->freed[i]);
    }
    destroy_event(lanes->delta);
    destroy_event(lanes->below);
    destroy_event(lanes->gradients_done);
    for (int i = 0; i < 2; i++) nd_cuda_free(lanes->workspace[i]);
    close_stream(lanes->main);
    close_stream(lanes->gradients);
    close_stream(lanes->steps);
    close_stream(lanes->draws);
}
