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
    /// FNV-1a of the content, folded to 32 bits: short, and the same on every machine.
    hash: u32,
}

impl Asset {
    /// The hash is taken when the program is compiled.
    const fn new(path: &'static str, bytes: &'static [u8]) -> Self {
        Self { path, bytes, hash: hash(bytes) }
    }
}

/// Every static file, by path.
pub const ALL: &[Asset] = &[
    Asset::new("assets/embed.js", include_bytes!("../../static/embed.js")),
    Asset::new("assets/frame.js", include_bytes!("../../static/frame.js")),
    Asset::new("assets/icon.svg", include_bytes!("../../static/icon.svg")),
    Asset::new("assets/kafka-scenario.js", include_bytes!("../../static/kafka-scenario.js")),
    Asset::new("assets/player.js", include_bytes!("../../static/player.js")),
    Asset::new("assets/router.js", include_bytes!("../../static/router.js")),
    Asset::new("assets/site.css", include_bytes!("../../static/site.css")),
    Asset::new("assets/site.js", include_bytes!("../../static/site.js")),
];

/// The path of an asset under the site's root, with the hash of its content as the query.
///
/// # Panics
/// If the program has no such asset.
#[must_use]
pub fn link(path: &str) -> String {
    let asset = ALL.iter().find(|asset| asset.path == path).expect("only our assets are asked for");
    format!("{path}?v={:08x}", asset.hash)
}

/// FNV-1a of 64 bits, folded to 32.
#[must_use]
pub const fn hash(bytes: &[u8]) -> u32 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut at = 0;
    while at < bytes.len() {
        // `From` is no constant function yet.
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    let [.., high_3, high_2, high_1, high_0] = (hash >> 32).to_be_bytes();
    let [.., low_3, low_2, low_1, low_0] = hash.to_be_bytes();
    u32::from_be_bytes([high_3 ^ low_3, high_2 ^ low_2, high_1 ^ low_1, high_0 ^ low_0])
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
