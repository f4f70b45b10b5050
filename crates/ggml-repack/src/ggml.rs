//! Implements the buffer type that `ggml.cpp` registers: which weights it takes, and how they are multiplied.
//!
//! Before llama.cpp loads a matrix, it asks each buffer type whether it supports the operations that the
//! matrix is for.

use std::ffi::{c_int, c_void};
use std::sync::Once;

use llama_cpp_sys_2 as sys;
use sys::{ggml_backend_buffer_type_t as BufferType, ggml_tensor as Tensor};

use super::{BLOCK, Column, Packed, ROWS, can, multiply, pack, q4_1, q8_0};

/// Pieces of the rows that each thread takes, so that a fast one has more of them.
const PIECES: usize = 4;

/// What `ggml.cpp` calls.
#[repr(C)]
struct Calls {
    kept: extern "C" fn(*const Tensor, BufferType) -> bool,
    fits: extern "C" fn(*const Tensor) -> bool,
    pack: extern "C" fn(*mut Tensor, *const c_void, usize, usize),
    room: extern "C" fn(*const Tensor) -> usize,
    multiply: extern "C" fn(*const Params, *mut Tensor),
}

/// `ggml_compute_params` of ggml/src/ggml-cpu/ggml-cpu-impl.h: which of the threads this is, and what they share.
#[repr(C)]
struct Params {
    thread: c_int,
    threads: c_int,
    size: usize,
    room: *mut c_void,
    pool: *mut c_void,
}

#[expect(unsafe_code, reason = "llama.cpp's own, which the bindings do not have")]
unsafe extern "C" {
    fn natter_products_register(calls: *const Calls) -> BufferType;
    fn ggml_barrier(pool: *mut c_void);
    fn ggml_threadpool_chunk_set(pool: *mut c_void, value: c_int);
    fn ggml_threadpool_chunk_add(pool: *mut c_void, value: c_int) -> c_int;
}

/// Has llama.cpp keep weights side by side from now on, where the processor can. Before the first model is loaded.
#[expect(unsafe_code, reason = "llama.cpp's own lists are in C++")]
pub fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if !can() {
            return;
        }
        let calls = Calls { kept, fits, pack: packed, room, multiply: multiplied };
        // SAFETY: the calls are copied; no model is loaded yet.
        let ours = unsafe { natter_products_register(&raw const calls) };
        if ours.is_null() {
            tracing::warn!("llama.cpp is not as its products expect: its own are used");
        }
    });
}

/// Whether an operation is a product of weights that are kept here.
#[expect(unsafe_code, reason = "llama.cpp's tensors are behind pointers")]
extern "C" fn kept(op: *const Tensor, ours: BufferType) -> bool {
    // SAFETY: llama.cpp gives whole tensors, whose sources and buffers live as long.
    unsafe {
        let op = &*op;
        if op.op != sys::GGML_OP_MUL_MAT {
            return false;
        }
        let buffer = (*op.src[0]).buffer;
        !buffer.is_null() && sys::ggml_backend_buffer_get_type(buffer) == ours
    }
}

/// Whether it can be computed here.
#[expect(unsafe_code, reason = "llama.cpp's tensors are behind pointers")]
extern "C" fn fits(op: *const Tensor) -> bool {
    // SAFETY: as for `kept`.
    unsafe {
        let (weights, columns) = (&*(*op).src[0], &*(*op).src[1]);
        let in_reach = columns.buffer.is_null()
            || sys::ggml_backend_buft_is_host(sys::ggml_backend_buffer_get_type(columns.buffer));
        in_reach
            && matches!(weights.type_, sys::GGML_TYPE_Q4_1 | sys::GGML_TYPE_Q8_0)
            && weights.ne[1] % ROWS as i64 == 0
            && weights.ne[2..] == [1, 1]
            && columns.type_ == sys::GGML_TYPE_F32
            && columns.nb[0] == size_of::<f32>()
    }
}

/// Takes weights in, as a file has them: all of a matrix at once.
extern "C" fn packed(weights: *mut Tensor, data: *const c_void, offset: usize, size: usize) {
    #[expect(unsafe_code, reason = "llama.cpp's tensors are behind pointers")]
    fn take<P: Packed>(weights: &Tensor, data: *const c_void, size: usize) {
        let width = weights.ne[0] as usize / BLOCK;
        let count = size / size_of::<P::Block>();
        // SAFETY: llama.cpp gives all data of the tensor, and the tensor has as much room, aligned; what is packed takes as
        // much. Blocks are plain bytes.
        unsafe {
            let blocks = std::slice::from_raw_parts(data.cast::<P::Block>(), count);
            let rows = std::slice::from_raw_parts_mut(weights.data.cast::<P>(), count / ROWS);
            pack(blocks, width, rows);
        }
    }
    #[expect(unsafe_code, reason = "llama.cpp's tensors are behind pointers")]
    // SAFETY: llama.cpp gives a whole tensor.
    let (weights, all) = unsafe { (&*weights, sys::ggml_nbytes(weights)) };
    assert_eq!((offset, size), (0, all), "a matrix is packed as a whole");
    match weights.type_ {
        sys::GGML_TYPE_Q4_1 => take::<q4_1::Rows>(weights, data, size),
        _ => take::<q8_0::Rows>(weights, data, size),
    }
}

/// Bytes of memory that a product needs meanwhile: for its columns in whole numbers.
#[expect(unsafe_code, reason = "llama.cpp's tensors are behind pointers")]
extern "C" fn room(op: *const Tensor) -> usize {
    // SAFETY: as for `kept`.
    let columns = unsafe { &*(*op).src[1] };
    columns.ne.iter().product::<i64>() as usize / BLOCK * size_of::<Column>()
}

/// A thread's part of a product.
extern "C" fn multiplied(params: *const Params, op: *mut Tensor) {
    #[expect(unsafe_code, reason = "llama.cpp's tensors are behind pointers")]
    // SAFETY: llama.cpp gives whole tensors, and memory as `room` wants it, to all threads of its pool at once.
    unsafe {
        let params = &*params;
        match (*(*op).src[0]).type_ {
            sys::GGML_TYPE_Q4_1 => part::<q4_1::Rows>(params, &*op),
            _ => part::<q8_0::Rows>(params, &*op),
        }
    }
}

/// A thread's part of a product: its columns in whole numbers, and when all threads have theirs, sums of some rows.
///
/// # Safety
/// As [`multiplied`] is called: by each thread of the pool, with what `room` asked for.
#[expect(unsafe_code, reason = "threads share memory that llama.cpp owns")]
unsafe fn part<P: Packed>(params: &Params, op: &Tensor) {
    let (thread, threads) = (params.thread as usize, params.threads as usize);
    // SAFETY: the caller gives whole tensors.
    let (weights, columns) = unsafe { (&*op.src[0], &*op.src[1]) };
    let width = weights.ne[0] as usize / BLOCK;
    let groups = weights.ne[1] as usize / ROWS;
    let [_, rows, planes, books] = columns.ne.map(|count| count as usize);
    let count = rows * planes * books;
    let place = |at: usize, bytes: [usize; 4]| {
        let (row, plane, book) = (at % rows, at / rows % planes, at / rows / planes);
        row * bytes[1] + plane * bytes[2] + book * bytes[3]
    };

    let room = params.room.cast::<Column>();
    // SAFETY: each column of the room is written by one thread, before the barrier; the source has as many numbers.
    unsafe {
        let from_float = (*sys::ggml_get_type_traits_cpu(sys::GGML_TYPE_Q8_1)).from_float;
        let from_float = from_float.expect("ggml makes columns of whole numbers");
        for at in (thread..count).step_by(threads) {
            let numbers = columns.data.byte_add(place(at, columns.nb)).cast::<f32>();
            from_float(numbers, room.add(at * width).cast::<c_void>(), columns.ne[0]);
        }
        if thread == 0 {
            ggml_threadpool_chunk_set(params.pool, params.threads);
        }
        ggml_barrier(params.pool);
    }
    let pieces = if threads == 1 { 1 } else { (threads * PIECES).min(groups) };
    let mut piece = thread;
    while piece < pieces {
        let (from, to) = (groups * piece / pieces, groups * (piece + 1) / pieces);
        // SAFETY: behind the barrier nobody writes to the room; the weights are packed, and it was asked before whether
        // the processor can. A piece is one thread's, and so are its rows in each column of the result.
        unsafe {
            let given = std::slice::from_raw_parts(room, count * width);
            let packed = weights.data.cast::<P>().add(from * width);
            let packed = std::slice::from_raw_parts(packed, (to - from) * width);
            multiply(packed, given, width, |column, group, sums| {
                let result = op.data.byte_add(place(column, op.nb)).cast::<[f32; ROWS]>();
                result.add(from + group).write_unaligned(sums);
            });
            piece = ggml_threadpool_chunk_add(params.pool, 1) as usize;
        }
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "llama.cpp's graphs are behind pointers")]
mod tests {
    use std::ffi::CStr;
    use std::ptr;

    use super::*;

    /// Where llama.cpp looks for kinds of memory when it loads a model.
    fn ours() -> Option<BufferType> {
        type Extra = unsafe extern "C" fn(sys::ggml_backend_dev_t) -> *mut BufferType;
        register();
        // SAFETY: the list ends with null; it stays.
        unsafe {
            let cpu = sys::ggml_backend_cpu_reg();
            let name = c"ggml_backend_dev_get_extra_bufts".as_ptr();
            let extra = sys::ggml_backend_reg_get_proc_address(cpu, name);
            let extra = std::mem::transmute::<*mut c_void, Extra>(extra);
            let mut list = extra(sys::ggml_backend_reg_dev_get(cpu, 0));
            while !(*list).is_null() {
                if CStr::from_ptr(sys::ggml_backend_buft_name(*list)) == c"CPU_NATTER" {
                    return Some(*list);
                }
                list = list.add(1);
            }
        }
        None
    }

    /// Numbers between -1 and 1, others for each seed.
    fn numbers(seed: u64, count: usize) -> Vec<f32> {
        let mut state = seed;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }

    /// A product as llama.cpp computes it: of weights that lie in this kind of memory.
    fn product(of: sys::ggml_type, memory: BufferType, threads: i32, sizes: [i64; 4]) -> Vec<f32> {
        let [width, rows, columns, planes] = sizes;
        // SAFETY: as ggml's own tests do it; all is freed below.
        unsafe {
            let params = || sys::ggml_init_params {
                mem_size: 1 << 20,
                mem_buffer: ptr::null_mut(),
                no_alloc: true,
            };
            let (kept, computed) = (sys::ggml_init(params()), sys::ggml_init(params()));
            let weights = sys::ggml_new_tensor_2d(kept, of, width, rows);
            let buffer = sys::ggml_backend_alloc_ctx_tensors_from_buft(kept, memory);
            assert!(!buffer.is_null());
            let given = numbers(7, (width * rows) as usize);
            let mut packed = vec![0_u8; sys::ggml_nbytes(weights)];
            let to = packed.as_mut_ptr().cast::<c_void>();
            sys::ggml_quantize_chunk(of, given.as_ptr(), to, 0, rows, width, ptr::null());
            sys::ggml_backend_tensor_set(weights, packed.as_ptr().cast(), 0, packed.len());

            let of = sys::GGML_TYPE_F32;
            let column = sys::ggml_new_tensor_3d(computed, of, width, columns, planes);
            let result = sys::ggml_mul_mat(computed, weights, column);
            let graph = sys::ggml_new_graph(computed);
            sys::ggml_build_forward_expand(graph, result);
            let plain = sys::ggml_backend_cpu_buffer_type();
            let meanwhile = sys::ggml_backend_alloc_ctx_tensors_from_buft(computed, plain);
            let given = numbers(11, (width * columns * planes) as usize);
            sys::ggml_backend_tensor_set(column, given.as_ptr().cast(), 0, given.len() * 4);
            let cpu = sys::ggml_backend_cpu_init();
            let device = sys::ggml_backend_get_device(cpu);
            assert!(sys::ggml_backend_dev_supports_op(device, result), "it was asked for");
            sys::ggml_backend_cpu_set_n_threads(cpu, threads);
            assert_eq!(sys::ggml_backend_graph_compute(cpu, graph), sys::GGML_STATUS_SUCCESS);
            let mut sums = vec![0_f32; (rows * columns * planes) as usize];
            sys::ggml_backend_tensor_get(result, sums.as_mut_ptr().cast(), 0, sums.len() * 4);

            sys::ggml_backend_free(cpu);
            sys::ggml_backend_buffer_free(meanwhile);
            sys::ggml_backend_buffer_free(buffer);
            sys::ggml_free(computed);
            sys::ggml_free(kept);
            sums
        }
    }

    #[test]
    fn llama_cpp_gets_what_it_computes_itself() {
        if !crate::tests::can() {
            return;
        }
        let ours = ours().expect("the kind of memory is registered");
        // SAFETY: it stays.
        let plain = unsafe { sys::ggml_backend_cpu_buffer_type() };
        for of in [sys::GGML_TYPE_Q4_1, sys::GGML_TYPE_Q8_0] {
            for sizes in [[64, 8, 1, 1], [576, 192, 1, 1], [1536, 576, 3, 2], [576, 1536, 21, 1]] {
                let right = product(of, plain, 1, sizes);
                let got = product(of, ours, 1, sizes);
                let size = right.iter().fold(0_f32, |most, number| most.max(number.abs()));
                for (got, right) in got.iter().zip(&right) {
                    assert!(
                        (got - right).abs() <= size * 1e-5,
                        "{got} for {right}: {of}, {sizes:?}"
                    );
                }
                assert!(size > 1.0, "there was something to compute");
                assert_eq!(got, product(of, ours, 3, sizes), "by three threads: {of}, {sizes:?}");
            }
        }
    }

    #[test]
    fn what_does_not_come_in_eights_is_left_to_llama_cpp() {
        if !crate::tests::can() {
            return;
        }
        let ours = ours().expect("the kind of memory is registered");
        // SAFETY: as above; nothing is computed.
        unsafe {
            let context = sys::ggml_init(sys::ggml_init_params {
                mem_size: 1 << 16,
                mem_buffer: ptr::null_mut(),
                no_alloc: true,
            });
            let cpu = sys::ggml_backend_reg_dev_get(sys::ggml_backend_cpu_reg(), 0);
            // As llama.cpp asks: of weights in a buffer that takes no room.
            let buffer = sys::ggml_backend_buft_alloc_buffer(ours, 0);
            let takes = |of, rows| {
                let weights = sys::ggml_new_tensor_2d(context, of, 64, rows);
                let column = sys::ggml_new_tensor_2d(context, sys::GGML_TYPE_F32, 64, 1);
                (*weights).buffer = buffer;
                let product = sys::ggml_mul_mat(context, weights, column);
                let rows = sys::ggml_get_rows(
                    context,
                    weights,
                    sys::ggml_new_tensor_1d(context, sys::GGML_TYPE_I32, 1),
                );
                assert!(!sys::ggml_backend_dev_supports_op(cpu, rows), "only products");
                sys::ggml_backend_dev_supports_op(cpu, product)
            };
            assert!(takes(sys::GGML_TYPE_Q4_1, 16) && takes(sys::GGML_TYPE_Q8_0, 16));
            assert!(!takes(sys::GGML_TYPE_Q4_1, 12));
            assert!(!takes(sys::GGML_TYPE_Q4_0, 16), "llama.cpp has its own");
            sys::ggml_backend_buffer_free(buffer);
            sys::ggml_free(context);
        }
    }
}
