//! ELF files: the versions of symbols that a dynamically linked program needs, from its section `.gnu.version_r`; the
//! bytes of a section by name.
//! Source: System V ABI, "Section Header"; Linux Standard Base, "Symbol Versioning". 64-bit little-endian files only.

const VERSIONS_NEEDED: u32 = 0x6fff_fffe;

/// Names such as `GLIBC_2.34`, sorted. Errors: why this is no such file.
pub fn needed_versions(file: &[u8]) -> Result<Vec<String>, String> {
    let (sections, header) = headers(file)?;
    let mut names = Vec::new();
    for at in sections {
        if number::<4>(file, at + 4)? != u64::from(VERSIONS_NEEDED) {
            continue;
        }
        let (mut library, link, count) =
            (number::<8>(file, at + 24)?, number::<4>(file, at + 40)?, number::<4>(file, at + 44)?);
        let strings = number::<8>(file, header(link) + 24)?;
        for _ in 0..count {
            let versions = number::<2>(file, library + 2)?;
            let mut version = library + number::<4>(file, library + 8)?;
            for _ in 0..versions {
                names.push(text(file, strings + number::<4>(file, version + 8)?)?);
                version += number::<4>(file, version + 12)?;
            }
            library += number::<4>(file, library + 12)?;
        }
    }
    names.sort();
    names.dedup();
    Ok(names)
}

/// The bytes of a section. Errors: there is none, or why this is no such file.
pub fn section(file: &[u8], name: &str) -> Result<Vec<u8>, String> {
    let (sections, header) = headers(file)?;
    let names = number::<8>(file, header(number::<2>(file, 0x3e)?) + 24)?;
    for at in sections {
        if text(file, names + number::<4>(file, at)?)? == name {
            let (start, size) = (number::<8>(file, at + 24)?, number::<8>(file, at + 32)?);
            let range = usize::try_from(start).ok().zip(usize::try_from(start.saturating_add(size)).ok());
            let bytes = range.and_then(|(start, end)| file.get(start..end));
            return bytes.map(<[u8]>::to_vec).ok_or_else(|| "the file is cut off".to_string());
        }
    }
    Err(format!("no section `{name}`"))
}

/// Where the headers of all sections are, and that of one by its number.
fn headers(file: &[u8]) -> Result<(Vec<u64>, impl Fn(u64) -> u64 + use<>), String> {
    if !file.starts_with(b"\x7fELF\x02\x01") {
        return Err("no 64-bit ELF file".to_string());
    }
    let (sections, size) = (number::<8>(file, 0x28)?, number::<2>(file, 0x3a)?);
    let header = move |index: u64| sections.saturating_add(index * size);
    Ok(((0..number::<2>(file, 0x3c)?).map(header).collect(), header))
}

/// `N` bytes as a number.
fn number<const N: usize>(file: &[u8], at: u64) -> Result<u64, String> {
    let bytes = usize::try_from(at).ok().and_then(|at| file.get(at..at.checked_add(N)?));
    let bytes = bytes.ok_or("the file is cut off")?;
    Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

fn text(file: &[u8], at: u64) -> Result<String, String> {
    let bytes = usize::try_from(at).ok().and_then(|at| file.get(at..)).ok_or("the file is cut off")?;
    let len = bytes.iter().position(|byte| *byte == 0).ok_or("the file is cut off")?;
    Ok(String::from_utf8_lossy(&bytes[..len]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn this_program_needs_a_c_library() {
        let file = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let names = needed_versions(&file).unwrap();
        assert!(names.iter().any(|name| name.starts_with("GLIBC_2.")), "{names:?}");
        assert!(section(&file, ".text").is_ok_and(|text| !text.is_empty()));
        assert!(section(&file, ".no_such").is_err());
        assert!(needed_versions(&file[..100]).is_err());
        assert!(needed_versions(b"MZ").is_err());
    }
}
