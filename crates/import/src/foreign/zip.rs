//! The names of an archive's members, from its directory; nothing is unpacked.

/// What a member begins with, and so the archive.
pub(super) const MEMBER: &[u8] = b"PK\x03\x04";

const DIRECTORY_ENTRY: &[u8] = b"PK\x01\x02";
const DIRECTORY_END: &[u8] = b"PK\x05\x06";
/// Bytes of the directory's end without its note, which has at most 65,535.
const END_SIZE: usize = 22;
const ENTRY_SIZE: usize = 46;
const MEMBER_SIZE: usize = 30;

/// Of a damaged directory the names up to the damage, at least the first member's; of what is no archive none.
pub(super) fn members(bytes: &[u8]) -> Vec<&str> {
    if !bytes.starts_with(MEMBER) {
        return vec![];
    }
    let names = directory(bytes).unwrap_or_default();
    if !names.is_empty() {
        return names;
    }
    let length = usize::from(u16_at(bytes, 26).unwrap_or(0));
    name_at(bytes, MEMBER_SIZE, length).into_iter().collect()
}

fn directory(bytes: &[u8]) -> Option<Vec<&str>> {
    let earliest = bytes.len().saturating_sub(END_SIZE + usize::from(u16::MAX));
    let latest = bytes.len().checked_sub(END_SIZE)?;
    let end = (earliest..=latest).rev().find(|at| bytes[*at..].starts_with(DIRECTORY_END))?;
    let (size, start) = (u32_at(bytes, end + 12)? as usize, u32_at(bytes, end + 16)? as usize);
    // Where archives of more than 4 GiB say it elsewhere, the directory still lies right before its end.
    let start = if start == u32::MAX as usize { end.checked_sub(size)? } else { start };
    let mut names = Vec::new();
    let mut at = start;
    while bytes.get(at..)?.starts_with(DIRECTORY_ENTRY) {
        let [name, extra, note] = [28, 30, 32].map(|field| u16_at(bytes, at + field).map(usize::from));
        let Some(found) = name_at(bytes, at + ENTRY_SIZE, name?) else { break };
        names.push(found);
        at += ENTRY_SIZE + name? + extra? + note?;
    }
    Some(names)
}

fn name_at(bytes: &[u8], at: usize, length: usize) -> Option<&str> {
    std::str::from_utf8(bytes.get(at..at.checked_add(length)?)?).ok()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
