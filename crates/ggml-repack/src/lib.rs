//! Multiplies quantized weights eight rows at a time, for two formats that llama.cpp multiplies row by
//! row on PC processors.
//!
//! This is our own code because llama.cpp, the library that runs our models, repacks some formats for
//! PC processors but not `q4_1` and `q8_0`, which the smallest models use. It stays because it cuts the
//! time for the `q4_1` products of a token from 5.6 to 2.1 ms (`docs/dev/performance.md`).
//!
//! To write one token, an engine multiplies nearly all weights of a model by a column of numbers. Row
//! by row, adding up each result takes longer than reading the weights. With eight rows interleaved,
//! each lane of a vector register belongs to one row, so nothing is added across lanes, and the scales
//! of eight rows are loaded at once.
//!
//! The arithmetic is llama.cpp's: the same integers, multiplied by the same scales. A column gets the
//! same sums to the last bit, however many columns are computed together.

#![cfg(target_arch = "x86_64")]

mod ggml;
mod q4_1;
mod q8_0;

use std::arch::x86_64::{__m128i, __m256, __m256i, _mm256_cvtph_ps, _mm256_set1_epi32};
use std::mem::transmute;

pub use ggml::register;

/// Rows that are interleaved.
const ROWS: usize = 8;
/// Weights that share a scale.
const BLOCK: usize = 32;
/// Columns that are multiplied with each unpacked group of weights.
const COLUMNS: usize = 4;

/// One block of a column: ggml's `block_q8_1`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Column {
    /// The factor of each number, a 16-bit float.
    scale: u16,
    /// The sum of all numbers times the factor, a 16-bit float.
    sum: u16,
    numbers: [i8; BLOCK],
}

impl Column {
    /// Four neighboring numbers, repeated once per row.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn fours(&self, at: usize) -> __m256i {
        let [a, b, c, d] = std::array::from_fn(|n| self.numbers[at * 4 + n].cast_unsigned());
        _mm256_set1_epi32(i32::from_le_bytes([a, b, c, d]))
    }
}

/// Eight 16-bit floats, widened to 32 bits.
#[inline]
#[target_feature(enable = "avx,f16c")]
fn halves(eight: [u16; ROWS]) -> __m256 {
    #[expect(unsafe_code, reason = "vectors are made of plain numbers")]
    // SAFETY: any 16 bytes are one.
    let eight = unsafe { transmute::<[u16; ROWS], __m128i>(eight) };
    _mm256_cvtph_ps(eight)
}

/// Interleaves the bytes of eight rows: four of one row, four of the next, and so on.
fn side_by_side<const BYTES: usize, const FOURS: usize>(
    rows: [[u8; BYTES]; ROWS],
) -> [[u8; 4 * ROWS]; FOURS] {
    std::array::from_fn(|four| std::array::from_fn(|at| rows[at / 4][four * 4 + at % 4]))
}

/// Loads 32 bytes into a register.
#[inline]
#[expect(unsafe_code, reason = "vectors are made of plain numbers")]
const fn bytes(all: [u8; 32]) -> __m256i {
    // SAFETY: any 32 bytes are one.
    unsafe { transmute::<[u8; 32], __m256i>(all) }
}

/// Takes one number per row out of a register.
#[inline]
#[expect(unsafe_code, reason = "vectors are plain numbers")]
const fn numbers(of: __m256) -> [f32; ROWS] {
    // SAFETY: any 32 bytes are eight numbers.
    unsafe { transmute::<__m256, [f32; ROWS]>(of) }
}

/// One block of weights from each of eight rows, interleaved.
trait Packed: Sized {
    /// One row's block as it is in the file.
    type Block: Copy;

    /// Interleaves the blocks of eight rows. They take as many bytes as before.
    fn pack(rows: [Self::Block; ROWS]) -> Self;

    /// Multiplies eight whole rows by each of several columns.
    ///
    /// # Safety
    /// The processor must have AVX2, FMA and F16C.
    #[expect(unsafe_code, reason = "what computes is made for some processors only")]
    unsafe fn sums<const N: usize>(rows: &[Self], columns: [&[Column]; N]) -> [[f32; ROWS]; N];
}

/// Checks that the processor has the instructions for [`Packed::sums`].
fn can() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c")
}

/// Interleaves the rows of a matrix, eight at a time. `width` is the number of blocks in a row. Rows after the last
/// full eight are skipped.
fn pack<P: Packed>(blocks: &[P::Block], width: usize, to: &mut [P]) {
    let groups = blocks.chunks_exact(width * ROWS);
    for (rows, to) in groups.zip(to.chunks_exact_mut(width)) {
        for (at, to) in to.iter_mut().enumerate() {
            *to = P::pack(std::array::from_fn(|row| rows[row * width + at]));
        }
    }
}

/// Multiplies all groups of eight rows by all columns and passes each result to `take`: the column, the group, and one
/// sum per row. Rows and columns are `width` blocks long.
///
/// # Safety
/// The same as for [`Packed::sums`].
#[expect(unsafe_code, reason = "what computes is made for some processors only")]
unsafe fn multiply<P: Packed>(
    weights: &[P],
    columns: &[Column],
    width: usize,
    mut take: impl FnMut(usize, usize, [f32; ROWS]),
) {
    for (group, rows) in weights.chunks_exact(width).enumerate() {
        let mut whole = columns.chunks_exact(width * COLUMNS);
        let mut done = 0;
        for some in &mut whole {
            let some: [&[Column]; COLUMNS] =
                std::array::from_fn(|at| &some[at * width..(at + 1) * width]);
            // SAFETY: the caller answers for the processor.
            let sums = unsafe { P::sums(rows, some) };
            for (at, sums) in sums.into_iter().enumerate() {
                take(done + at, group, sums);
            }
            done += COLUMNS;
        }
        for column in whole.remainder().chunks_exact(width) {
            // SAFETY: the caller answers for the processor.
            let [sums] = unsafe { P::sums(rows, [column]) };
            take(done, group, sums);
            done += 1;
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::{BLOCK, Column, Packed, ROWS, multiply, pack, q4_1, q8_0};

    /// Whether products can be tried. Where nobody may leave them out, they can.
    pub(crate) fn can() -> bool {
        let can = super::can();
        assert!(can || std::env::var("CI").is_err(), "this processor lacks AVX2, FMA or F16C");
        can
    }

    /// A block as a file has it, read by the book.
    trait Plain: Copy + std::fmt::Debug {
        fn of(halves: [u16; 2], weights: [u8; BLOCK]) -> Self;
        /// The scale, the least value, and the weights in order.
        fn plain(&self) -> (f64, f64, Vec<i32>);
    }

    impl Plain for q4_1::Block {
        fn of(halves: [u16; 2], weights: [u8; BLOCK]) -> Self {
            Self::new(halves, std::array::from_fn(|at| weights[at]))
        }

        fn plain(&self) -> (f64, f64, Vec<i32>) {
            let ([scale, least], weights) = self.parts();
            let low = weights.iter().map(|byte| i32::from(byte & 15));
            let high = weights.iter().map(|byte| i32::from(byte >> 4));
            (half(scale), half(least), low.chain(high).collect())
        }
    }

    impl Plain for q8_0::Block {
        fn of(halves: [u16; 2], weights: [u8; BLOCK]) -> Self {
            Self::new(halves[0], weights)
        }

        fn plain(&self) -> (f64, f64, Vec<i32>) {
            let (scale, weights) = self.parts();
            (half(scale), 0.0, weights.iter().map(|byte| i32::from(byte.cast_signed())).collect())
        }
    }

    /// A number of 16 bits, by IEEE 754. No infinity, and not a number, is made here.
    fn half(bits: u16) -> f64 {
        let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023) / 1024.0);
        let size = match exponent {
            0 => fraction * 2f64.powi(-14),
            _ => (1.0 + fraction) * 2f64.powi(exponent - 15),
        };
        if bits >> 15 == 0 { size } else { -size }
    }

    fn halves() -> impl Strategy<Value = [u16; 2]> {
        // Up to about 2, of both signs.
        [0..0x4000_u16, 0..0x4000_u16].prop_flat_map(|[a, b]| {
            (any::<bool>(), any::<bool>())
                .prop_map(move |(c, d)| [a | u16::from(c) << 15, b | u16::from(d) << 15])
        })
    }

    fn blocks<B: Plain>(count: usize) -> impl Strategy<Value = Vec<B>> {
        vec(
            (halves(), any::<[u8; BLOCK]>()).prop_map(|(halves, weights)| B::of(halves, weights)),
            count,
        )
    }

    fn column() -> impl Strategy<Value = Column> {
        (halves(), vec(-127..=127_i8, BLOCK)).prop_map(|([scale, sum], numbers)| Column {
            scale,
            sum,
            numbers: numbers.try_into().expect("as many as a block"),
        })
    }

    /// Groups of rows, columns, and blocks of each.
    fn matrix<B: Plain>() -> impl Strategy<Value = (usize, Vec<B>, Vec<Column>)> {
        (1..3_usize, 1..10_usize, 1..4_usize).prop_flat_map(|(groups, columns, width)| {
            (Just(width), blocks(groups * ROWS * width), vec(column(), columns * width))
        })
    }

    #[expect(unsafe_code, reason = "what computes is made for some processors only")]
    fn product<P: Packed + Copy>(
        blocks: &[P::Block],
        columns: &[Column],
        width: usize,
    ) -> Vec<Vec<f32>> {
        let first = P::pack([blocks[0]; ROWS]);
        let mut packed = std::vec::from_elem(first, blocks.len() / ROWS);
        pack(blocks, width, &mut packed);
        let mut sums = std::vec::from_elem(Vec::new(), columns.len() / width);
        // SAFETY: who calls has asked whether the processor can.
        unsafe { multiply(&packed, columns, width, |column, _, of| sums[column].extend(of)) };
        sums
    }

    fn holds<P: Packed<Block: Plain> + Copy>(
        width: usize,
        blocks: &[P::Block],
        columns: &[Column],
    ) {
        if !can() {
            return;
        }
        let sums = product::<P>(blocks, columns, width);
        for (column, got) in columns.chunks_exact(width).zip(&sums) {
            for (row, got) in blocks.chunks_exact(width).zip(got) {
                let (mut right, mut size) = (0.0, 0.0);
                for (block, column) in row.iter().zip(column) {
                    let (scale, least, weights) = block.plain();
                    let whole: i32 = weights
                        .iter()
                        .zip(column.numbers)
                        .map(|(weight, number)| weight * i32::from(number))
                        .sum();
                    for term in
                        [scale * half(column.scale) * f64::from(whole), least * half(column.sum)]
                    {
                        right += term;
                        size += term.abs();
                    }
                }
                assert!((f64::from(*got) - right).abs() <= size * 1e-6, "{got} for {right}");
            }
            let alone = product::<P>(blocks, column, width);
            assert_eq!(&alone[0], got, "a column alone");
        }
    }

    proptest! {
        #[test]
        fn four_bits_are_multiplied_as_the_book_says((width, blocks, columns) in matrix()) {
            holds::<q4_1::Rows>(width, &blocks, &columns);
        }

        #[test]
        fn eight_bits_are_multiplied_as_the_book_says((width, blocks, columns) in matrix()) {
            holds::<q8_0::Rows>(width, &blocks, &columns);
        }
    }

    #[test]
    fn the_largest_numbers_fit() {
        let largest = Column { scale: 0x3c00, sum: 0x3c00, numbers: [127; BLOCK] };
        let least = Column { numbers: [-127; BLOCK], ..largest };
        let four = [q4_1::Block::of([0x3c00, 0xbc00], [255; BLOCK]); ROWS];
        let eight = [q8_0::Block::of([0x3c00; 2], [127; BLOCK]); ROWS];
        let low = [q8_0::Block::of([0x3c00; 2], [0x80; BLOCK]); ROWS];
        for column in [largest, least] {
            holds::<q4_1::Rows>(1, &four, &[column; 5]);
            holds::<q8_0::Rows>(1, &eight, &[column; 5]);
            holds::<q8_0::Rows>(1, &low, &[column; 5]);
        }
    }
}
