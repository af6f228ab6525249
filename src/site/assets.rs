//! Static files that are part of the program, and the links to them. A link carries a hash of the
//! content as its query: the name stays the same for everybody who links to it, an old page never
//! meets a missing file, and a new version is never hidden by a cache.

/// One static file.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    /// Its path under the site's root.
    pub path: &'static str,
    /// Its content.
    pub bytes: &'static [u8],
}

/// Every static file, by path.
pub const ALL: &[Asset] = &[
    Asset { path: "assets/icon.svg", bytes: include_bytes!("../../static/icon.svg") },
    Asset { path: "assets/player.js", bytes: include_bytes!("../../static/player.js") },
    Asset { path: "assets/router.js", bytes: include_bytes!("../../static/router.js") },
    Asset { path: "assets/site.css", bytes: include_bytes!("../../static/site.css") },
    Asset { path: "assets/site.js", bytes: include_bytes!("../../static/site.js") },
];

/// The path of an asset under the site's root, with the hash of its content as the query.
///
/// # Panics
/// If the program has no such asset.
#[must_use]
pub fn link(path: &str) -> String {
    let asset = ALL.iter().find(|asset| asset.path == path).expect("only our assets are asked for");
    format!("{path}?v={:08x}", hash(asset.bytes))
}

/// FNV-1a, folded to 32 bits: short, and the same on every machine.
fn hash(bytes: &[u8]) -> u32 {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let folded = (hash >> 32) ^ (hash & 0xffff_ffff);
    u32::try_from(folded).expect("the upper half was folded away")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a_folded() {
        // Reference vectors: 64-bit FNV-1a of "" is cbf29ce484222325, of "a" af63dc4c8601ec8c.
        assert_eq!(hash(b""), 0xcbf2_9ce4 ^ 0x8422_2325);
        assert_eq!(hash(b"a"), 0xaf63_dc4c ^ 0x8601_ec8c);
    }
}
