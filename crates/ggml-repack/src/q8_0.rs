//! Multiplies `q8_0` weights: eight bits each, with a scale per block.

use std::arch::x86_64::{
    _mm256_abs_epi8, _mm256_add_epi32, _mm256_cvtepi32_ps, _mm256_fmadd_ps, _mm256_madd_epi16,
    _mm256_maddubs_epi16, _mm256_mul_ps, _mm256_set1_epi16, _mm256_setzero_ps,
    _mm256_setzero_si256, _mm256_sign_epi8,
};

use super::{BLOCK, Column, Packed, ROWS, bytes, halves, numbers, side_by_side};

/// `block_q8_0` of ggml. A file may have it at any address.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Block {
    scale: [u8; 2],
    /// Each has a sign.
    weights: [u8; BLOCK],
}

#[cfg(test)]
impl Block {
    pub(super) const fn new(scale: u16, weights: [u8; BLOCK]) -> Self {
        Self { scale: scale.to_le_bytes(), weights }
    }

    pub(super) const fn parts(&self) -> (u16, [u8; BLOCK]) {
        (u16::from_le_bytes(self.scale), self.weights)
    }
}

/// Of eight rows.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Rows {
    scales: [u16; ROWS],
    weights: [[u8; 32]; 8],
}

impl Packed for Rows {
    type Block = Block;

    fn pack(rows: [Block; ROWS]) -> Self {
        Self {
            scales: rows.map(|row| u16::from_le_bytes(row.scale)),
            weights: side_by_side(rows.map(|row| row.weights)),
        }
    }

    #[target_feature(enable = "avx2,fma,f16c")]
    #[expect(unsafe_code, reason = "for some processors only")]
    unsafe fn sums<const N: usize>(rows: &[Self], columns: [&[Column]; N]) -> [[f32; ROWS]; N] {
        let ones = _mm256_set1_epi16(1);
        let mut scaled = [_mm256_setzero_ps(); N];
        for (at, block) in rows.iter().enumerate() {
            let mut products = [_mm256_setzero_si256(); N];
            for (four, weights) in block.weights.iter().enumerate() {
                let weights = bytes(*weights);
                let sizes = _mm256_abs_epi8(weights);
                for (products, column) in products.iter_mut().zip(columns) {
                    // One side must have no sign: the other takes it over. A weight may be -128, a number never is. Two
                    // such products are 32,512 at most, which 16 bits hold; no third.
                    let signed = _mm256_sign_epi8(column[at].fours(four), weights);
                    let two = _mm256_maddubs_epi16(sizes, signed);
                    *products = _mm256_add_epi32(*products, _mm256_madd_epi16(two, ones));
                }
            }
            let scales = halves(block.scales);
            for n in 0..N {
                let scale = _mm256_mul_ps(scales, halves([columns[n][at].scale; ROWS]));
                scaled[n] = _mm256_fmadd_ps(scale, _mm256_cvtepi32_ps(products[n]), scaled[n]);
            }
        }
        scaled.map(numbers)
    }
}
