/* What a drawn cell is to the network. */
#ifndef ND_BACKEND_CUDA_INPUT_CUH
#define ND_BACKEND_CUDA_INPUT_CUH

#include "backend/cuda/cuda_kernel_tools.cuh"

namespace
{

/* Writes a column's part of the input: its value x, as the products are to see it, and its mask, zero where it is not
 * observed. */
template <typename T>
__device__ __forceinline__ void write_input(const struct device_plan &plan, int32_t c, float x, float shown,
                                            bool observed, T *input)
{
    const T zero = to_element<T>(0.0f), one = to_element<T>(1.0f);
    if (plan.one_hot && plan.column[c].type == NADE_CATEGORICAL) {
        const struct device_column column = plan.column[c];
        for (int32_t v = 0; v < column.input_width; v++)
            input[column.input + v] = observed && v == (int32_t)x ? one : zero;
    } else {
        input[plan.one_hot ? plan.column[c].input : c] = observed ? to_element<T>(shown) : zero;
        if (plan.one_hot && plan.column[c].atom_inputs) {
            const struct device_column column = plan.column[c];
            const int32_t atom = observed ? find_atom(column, plan.atom, x) : -1;
            for (int32_t a = 0; a < column.atoms; a++) input[column.input + 1 + a] = a == atom ? one : zero;
        }
    }
    if (plan.masks) input[plan.values_width + c] = observed ? one : zero;
}

} /* namespace */

#endif
