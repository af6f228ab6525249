//! The run's only source of chance: `SplitMix64`, seeded by the scenario.
//!
//! Steele, Lea, Flood: "Fast splittable pseudorandom number generators" (2014). The same seed gives
//! the same numbers on every machine.

/// A seeded generator.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// The generator of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Rng {
        Rng { state: seed }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// Where random draws come from. A trait, so that tests of placement can use the draws that
/// Kafka's own tests used.
pub trait Draw {
    /// A number from 0 up to `bound`, exclusive; `bound` is at least 1.
    fn draw(&mut self, bound: usize) -> usize;
}

impl Draw for Rng {
    fn draw(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "a draw needs at least one outcome");
        // The widening multiplication maps 64 bits onto the range without a division (Lemire,
        // 2019). Its bias is below 2^-32 for every bound that the format's limits allow.
        let wide = u128::from(self.next_u64()) * bound as u128;
        usize::try_from(wide >> 64).expect("the product's upper half is below the bound")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference values of the algorithm's published C code for seed 1234567.
    #[test]
    fn splitmix64_gives_its_reference_values() {
        let mut rng = Rng::new(1_234_567);
        let first: Vec<u64> = (0..5).map(|_| rng.next_u64()).collect();
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821
            ]
        );
    }

    #[test]
    fn a_draw_stays_below_its_bound() {
        let mut rng = Rng::new(7);
        let draws: Vec<usize> = (0..1000).map(|_| rng.draw(3)).collect();
        for outcome in 0..3 {
            assert!(draws.iter().filter(|d| **d == outcome).count() > 250);
        }
        assert!(draws.iter().all(|d| *d < 3));
    }
}
