//! Device code on disk, found by a hash of what it was made of: kernels that are compiled again, in the next
//! build or in another file of this one, take neither LLVM's back end nor `ptxas`. What becomes of a whole
//! module is kept beside it.
//!
//! # Invariants
//! - What is found is what was put there: each file begins with the hash of the rest, and one that has
//!   another is removed and not used.
//! - A name holds one content for ever, so writers that meet write the same. A file appears whole or not at
//!   all (it is written beside its place and renamed), on a network's file system as well.
//! - Nothing depends on the cache but time: whatever fails here (no home, no space, no permission) is as if
//!   nothing were found.
//! - Its size is bounded: each of the [`SHELVES`] has its share, and gives up what was not used for longest.

use etcetera::BaseStrategy;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Folders that the files are in, by the first digit of their names.
const SHELVES: usize = 16;
const DIGITS: &[u8; SHELVES] = b"0123456789abcdef";
/// In front of each file; other contents have another.
const MAGIC: &[u8; 8] = b"pollyrs1";
/// Bytes of a hash.
const HASH: usize = 32;
/// Bytes that may be kept if nothing is said.
const DEFAULT_LIMIT: u64 = 1 << 30;
/// Of a shelf that was too large so much is left: it need not be looked through at each of the next writes.
const LEFT: f64 = 0.8;

/// A hash under construction.
///
/// ```
/// let key = pollyrs_cache::Key::new("ptx").with(b"some bitcode").with(b"sm_90");
/// assert_ne!(key, pollyrs_cache::Key::new("ptx").with(b"some bitcodes").with(b"m_90"));
/// ```
#[derive(Clone, Debug)]
pub struct Key(Sha256);

impl Key {
    /// `kind`: what is made, so that two products of one input differ.
    pub fn new(kind: &str) -> Key {
        Key(Sha256::new()).with(kind.as_bytes())
    }

    /// With one more thing that the product depends on. Where one ends and the next begins matters.
    pub fn with(mut self, part: &[u8]) -> Key {
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
        self
    }

    /// With what tells a program or library from another in its place: path, size, and time of the last
    /// change. A file that is not there has none.
    pub fn with_file(self, path: &Path) -> Key {
        let key = self.with(path.as_os_str().as_encoded_bytes());
        let Ok(about) = fs::metadata(path) else { return key.with(b"none") };
        let since = |t: SystemTime| t.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        key.with(&about.len().to_le_bytes()).with(&about.modified().map_or(0, since).to_le_bytes())
    }

    fn name(&self) -> String {
        self.0.clone().finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.name() == other.name()
    }
}

/// A folder with files by their keys.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    limit: u64,
}

/// What is in a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    pub files: u64,
    pub bytes: u64,
}

impl Cache {
    /// The cache that the plugin's options name: `folder` is an absolute path, `off`, or empty for
    /// `pollyrs/code` where the user's caches are (`XDG_CACHE_HOME`, else `~/.cache`); it may have
    /// `mebibytes` MiB, 1,024 if nothing is said. `None`: there is none, or no place for one.
    ///
    /// # Errors
    /// A path that is relative, which would be another folder in each folder of a build.
    pub fn configured(folder: &str, mebibytes: Option<u64>) -> Result<Option<Cache>, String> {
        let folder = match folder {
            "off" => return Ok(None),
            "" => etcetera::choose_base_strategy().ok().map(|user| user.cache_dir().join("pollyrs/code")),
            said if Path::new(said).is_absolute() => Some(PathBuf::from(said)),
            said => return Err(format!("'{said}' is neither off nor an absolute path")),
        };
        let limit = mebibytes.map_or(DEFAULT_LIMIT, |n| n.saturating_mul(1 << 20));
        Ok(folder.map(|folder| Cache::new(folder, limit)))
    }

    /// A cache of at most `limit` bytes; the folder is made when something is put there.
    pub fn new(folder: PathBuf, limit: u64) -> Cache {
        Cache { folder, limit }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// In bytes.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// What was put there under this key, if it is still there and whole.
    pub fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let path = self.path(key);
        let mut file = File::open(&path).ok()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        let head = MAGIC.len() + HASH;
        let whole = bytes.len() >= head
            && bytes.starts_with(MAGIC)
            && Sha256::digest(&bytes[head..])[..] == bytes[MAGIC.len()..head];
        if !whole {
            let _ = fs::remove_file(&path);
            return None;
        }
        // Used now. Where that can't be noted, the file goes a little earlier.
        if let Ok(file) = File::options().write(true).open(&path) {
            let _ = file.set_modified(SystemTime::now());
        }
        bytes.drain(..head);
        Some(bytes)
    }

    /// Keeps `content` under this key, if that is possible.
    pub fn put(&self, key: &Key, content: &[u8]) {
        let share = self.limit / SHELVES as u64;
        if content.len() as u64 > share {
            return;
        }
        let path = self.path(key);
        let Some(shelf) = path.parent() else { return };
        if write(shelf, &path, content).is_ok() {
            shrink(shelf, share);
        }
    }

    /// How much is there.
    pub fn contents(&self) -> Contents {
        let files = self.shelves().flat_map(|shelf| entries(&shelf));
        files
            .fold(Contents::default(), |sum, e| Contents { files: sum.files + 1, bytes: sum.bytes + e.bytes })
    }

    /// Removes all files of the cache, and nothing else that may be in the folder.
    ///
    /// # Errors
    /// The first file that can't be removed.
    pub fn clear(&self) -> io::Result<Contents> {
        let before = self.contents();
        for shelf in self.shelves() {
            for entry in entries(&shelf) {
                match fs::remove_file(&entry.path) {
                    Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                    _ => {}
                }
            }
            // One that holds something else stays.
            let _ = fs::remove_dir(&shelf);
        }
        Ok(before)
    }

    fn shelves(&self) -> impl Iterator<Item = PathBuf> {
        DIGITS.iter().map(|d| self.folder.join(char::from(*d).to_string()))
    }

    fn path(&self, key: &Key) -> PathBuf {
        let name = key.name();
        self.folder.join(&name[..1]).join(&name[1..])
    }
}

/// A file in a shelf.
struct Entry {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

/// The files of a shelf that have names of ours, with those that a writer who was stopped has left.
fn entries(shelf: &Path) -> Vec<Entry> {
    let Ok(files) = fs::read_dir(shelf) else { return Vec::new() };
    let ours = |name: &[u8]| {
        let hash = name.strip_prefix(b".").unwrap_or(name);
        name.starts_with(b".new-") || (hash.len() == 2 * HASH - 1 && hash.iter().all(u8::is_ascii_hexdigit))
    };
    let entry = |file: fs::DirEntry| {
        let about = file.metadata().ok().filter(fs::Metadata::is_file)?;
        ours(file.file_name().as_encoded_bytes()).then_some(())?;
        Some(Entry { path: file.path(), bytes: about.len(), used: about.modified().ok()? })
    };
    files.filter_map(Result::ok).filter_map(entry).collect()
}

fn write(shelf: &Path, path: &Path, content: &[u8]) -> io::Result<()> {
    make_folder(shelf)?;
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(shelf)?;
    file.write_all(MAGIC)?;
    file.write_all(&Sha256::digest(content))?;
    file.write_all(content)?;
    file.persist(path)?;
    Ok(())
}

/// The folder and those above it, for this user alone: code of others would be run.
fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Removes what was not used for longest from a shelf that has more than its share.
fn shrink(shelf: &Path, share: u64) {
    let mut files = entries(shelf);
    let mut bytes: u64 = files.iter().map(|e| e.bytes).sum();
    if bytes <= share {
        return;
    }
    files.sort_by_key(|e| e.used);
    let left = (share as f64 * LEFT) as u64;
    for entry in files {
        if bytes <= left {
            break;
        }
        // Another process may have removed it: gone is gone.
        let _ = fs::remove_file(&entry.path);
        bytes -= entry.bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn key(n: u32) -> Key {
        Key::new("test").with(&n.to_le_bytes())
    }

    fn with_cache(limit: u64, test: impl FnOnce(Cache)) {
        let folder = tempfile::tempdir().expect("a folder");
        test(Cache::new(folder.path().join("deep/cache"), limit));
    }

    #[test]
    fn what_is_put_is_found_and_what_is_not_put_is_not() {
        with_cache(1 << 20, |cache| {
            assert_eq!(cache.get(&key(1)), None);
            cache.put(&key(1), b"one");
            cache.put(&key(2), b"");
            assert_eq!(cache.get(&key(1)).as_deref(), Some(&b"one"[..]));
            assert_eq!(cache.get(&key(2)).as_deref(), Some(&b""[..]));
            assert_eq!(cache.get(&key(3)), None);
            assert_eq!(cache.contents().files, 2);
        });
    }

    #[test]
    fn files_that_someone_changed_are_removed() {
        type Damage = fn(Vec<u8>) -> Vec<u8>;
        let cases: [(&str, Damage); 5] = [
            ("a bit of the content", |mut b| {
                *b.last_mut().expect("bytes") ^= 1;
                b
            }),
            ("a bit of the hash", |mut b| {
                b[MAGIC.len()] ^= 1;
                b
            }),
            ("of another version", |mut b| {
                b[7] = b'0';
                b
            }),
            ("cut", |b| b[..20].to_vec()),
            ("nothing left", |_| Vec::new()),
        ];
        for (what, damage) in cases {
            with_cache(1 << 20, |cache| {
                cache.put(&key(1), b"content");
                let path = cache.path(&key(1));
                fs::write(&path, damage(fs::read(&path).expect(what))).expect(what);
                assert_eq!(cache.get(&key(1)), None, "{what}");
                assert!(!path.exists(), "{what}");
                cache.put(&key(1), b"content");
                assert!(cache.get(&key(1)).is_some(), "{what}");
            });
        }
    }

    #[test]
    fn folders_are_absolute_or_none() {
        let limit = |folder, size| Cache::configured(folder, size).map(|c| c.map(|c| c.limit()));
        assert_eq!(limit("off", None), Ok(None));
        assert_eq!(limit("/a", None), Ok(Some(1 << 30)));
        assert_eq!(limit("/a", Some(3)), Ok(Some(3 << 20)));
        assert_eq!(limit("/a", Some(u64::MAX)), Ok(Some(u64::MAX)));
        assert!(limit("a", None).is_err());
    }

    #[test]
    fn parts_of_a_key_end_where_they_end() {
        assert_ne!(Key::new("a").with(b"bc").with(b"d"), Key::new("a").with(b"b").with(b"cd"));
        assert_ne!(Key::new("a").with(b"b"), Key::new("ab"));
        assert_eq!(key(7), key(7));
    }

    #[test]
    fn a_file_is_another_when_it_is_written_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ptxas");
        let of = |path: &Path| Key::new("a").with_file(path);
        let missing = of(&path);
        fs::write(&path, "one").expect("a file");
        let first = of(&path);
        assert_ne!(missing, first);
        fs::write(&path, "three").expect("a file");
        assert_ne!(of(&path), first);
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first_and_the_limit_holds() {
        const SIZE: usize = 1000;
        with_cache(SHELVES as u64 * 5 * 1100, |cache| {
            let shelf = |k: &Key| k.name().as_bytes()[0];
            let first = shelf(&key(0));
            let same: Vec<u32> = (0..).filter(|n| shelf(&key(*n)) == first).take(9).collect();
            for (age, n) in same[..5].iter().enumerate() {
                cache.put(&key(*n), &[0; SIZE]);
                let file = File::options().write(true).open(cache.path(&key(*n))).expect("a file");
                file.set_modified(SystemTime::now() - Duration::from_secs(100 - age as u64)).expect("a time");
            }
            // The oldest is used again.
            assert!(cache.get(&key(same[0])).is_some());
            cache.put(&key(same[5]), &[0; SIZE]);
            let there: Vec<bool> = same[..6].iter().map(|n| cache.path(&key(*n)).exists()).collect();
            assert_eq!(there, [true, false, false, true, true, true]);
            for n in &same[6..] {
                cache.put(&key(*n), &[0; SIZE]);
                assert!(cache.contents().bytes <= 5 * 1100);
            }
            // Larger than a shelf's share: not kept.
            cache.put(&key(same[1]), &[0; 6000]);
            assert_eq!(cache.get(&key(same[1])), None);
        });
    }

    #[test]
    fn clearing_leaves_what_is_not_ours() {
        with_cache(1 << 20, |cache| {
            cache.put(&key(1), b"one");
            let other = cache.path(&key(1)).with_file_name("notes.txt");
            fs::write(&other, "mine").expect("a file");
            assert_eq!(cache.clear().expect("cleared").files, 1);
            assert!(other.exists());
            assert_eq!(cache.contents(), Contents::default());
        });
    }

    #[test]
    fn a_place_that_cannot_be_written_is_an_empty_cache() {
        let cache = Cache::new(PathBuf::from("/proc/nowhere"), 1 << 20);
        cache.put(&key(1), b"one");
        assert_eq!(cache.get(&key(1)), None);
    }

    #[test]
    fn writers_that_meet_leave_one_whole_file() {
        with_cache(1 << 24, |cache| {
            let content = vec![7; 100_000];
            std::thread::scope(|threads| {
                for _ in 0..4 {
                    threads.spawn(|| {
                        for _ in 0..20 {
                            cache.put(&key(1), &content);
                            assert_eq!(cache.get(&key(1)).as_deref(), Some(&content[..]));
                        }
                    });
                }
            });
            assert_eq!(cache.contents().files, 1);
        });
    }
}
