//! Multiplies `q4_1` weights: four bits each, with a scale and a minimum per block.

use std::arch::x86_64::{
    _mm256_add_epi16, _mm256_add_ps, _mm256_and_si256, _mm256_cvtepi32_ps, _mm256_fmadd_ps,
    _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_mul_ps, _mm256_set1_epi8, _mm256_set1_epi16,
    _mm256_setzero_ps, _mm256_setzero_si256, _mm256_srli_epi16,
};

use super::{BLOCK, Column, Packed, ROWS, bytes, halves, numbers, side_by_side};

/// `block_q4_1` of ggml: a byte has the weight of its place in its lower half, and in its upper half
/// the one 16 places further. A file may have it at any address.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Block {
    scale: [u8; 2],
    least: [u8; 2],
    weights: [u8; BLOCK / 2],
}

#[cfg(test)]
impl Block {
    pub(super) const fn new([scale, least]: [u16; 2], weights: [u8; BLOCK / 2]) -> Self {
        Self { scale: scale.to_le_bytes(), least: least.to_le_bytes(), weights }
    }

    pub(super) fn parts(&self) -> ([u16; 2], [u8; BLOCK / 2]) {
        ([self.scale, self.least].map(u16::from_le_bytes), self.weights)
    }
}

/// Of eight rows.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Rows {
    scales: [u16; ROWS],
    least: [u16; ROWS],
    weights: [[u8; 32]; 4],
}

impl Packed for Rows {
    type Block = Block;

    fn pack(rows: [Block; ROWS]) -> Self {
        Self {
            scales: rows.map(|row| u16::from_le_bytes(row.scale)),
            least: rows.map(|row| u16::from_le_bytes(row.least)),
            weights: side_by_side(rows.map(|row| row.weights)),
        }
    }

    #[target_feature(enable = "avx2,fma,f16c")]
    #[expect(unsafe_code, reason = "for some processors only")]
    unsafe fn sums<const N: usize>(rows: &[Self], columns: [&[Column]; N]) -> [[f32; ROWS]; N] {
        let lower = _mm256_set1_epi8(15);
        let ones = _mm256_set1_epi16(1);
        let mut scaled = [_mm256_setzero_ps(); N];
        let mut least = [_mm256_setzero_ps(); N];
        for (at, block) in rows.iter().enumerate() {
            let mut products = [_mm256_setzero_si256(); N];
            for (four, weights) in block.weights.iter().enumerate() {
                let weights = bytes(*weights);
                let low = _mm256_and_si256(weights, lower);
                let high = _mm256_and_si256(_mm256_srli_epi16::<4>(weights), lower);
                for (products, column) in products.iter_mut().zip(columns) {
                    // Eight products of two weights of at most 15 with numbers of at most 127: 30,480, which 16 bits hold.
                    let first = _mm256_maddubs_epi16(low, column[at].fours(four));
                    let second = _mm256_maddubs_epi16(high, column[at].fours(four + 4));
                    *products = _mm256_add_epi16(*products, _mm256_add_epi16(first, second));
                }
            }
            let (scales, leasts) = (halves(block.scales), halves(block.least));
            for n in 0..N {
                let column = &columns[n][at];
                let (scale, sum) = (halves([column.scale; ROWS]), halves([column.sum; ROWS]));
                let whole = _mm256_cvtepi32_ps(_mm256_madd_epi16(products[n], ones));
                scaled[n] = _mm256_fmadd_ps(_mm256_mul_ps(scales, scale), whole, scaled[n]);
                least[n] = _mm256_fmadd_ps(leasts, sum, least[n]);
            }
        }
        std::array::from_fn(|n| numbers(_mm256_add_ps(scaled[n], least[n])))
    }
}
