//! Checks that the processor has what the built llama.cpp needs, whose fast paths are chosen when it
//! is built.

/// What is lacking of it, by the makers' names. Nothing on a machine that can run models.
pub fn lacking() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    {
        let features = [
            ("AVX", is_x86_feature_detected!("avx")),
            ("AVX2", is_x86_feature_detected!("avx2")),
            ("FMA", is_x86_feature_detected!("fma")),
            ("F16C", is_x86_feature_detected!("f16c")),
            ("BMI2", is_x86_feature_detected!("bmi2")),
        ];
        features.into_iter().filter(|(_, has)| !has).map(|(name, _)| name).collect()
    }
    #[cfg(not(target_arch = "x86_64"))]
    Vec::new()
}
