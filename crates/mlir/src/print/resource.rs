//! The sidecar `{-# ... #-}` as text, laid out as upstream does.

use super::Printer;
use crate::ast::{Attr, Module};
use crate::spell::{write_hex_string, write_name, write_quoted};

impl<'a> Printer<'a> {
    pub(super) fn metadata(&mut self, module: &'a Module) {
        if module.resources.is_empty() && module.external_resources.is_empty() {
            return;
        }
        self.out.push_str("\n{-#\n");
        self.section("dialect_resources", &module.resources, |p, bytes| write_hex_string(&mut p.out, bytes));
        if !module.resources.is_empty() && !module.external_resources.is_empty() {
            self.out.push_str(",\n");
        }
        self.section("external_resources", &module.external_resources, |p, value| match value {
            Attr::String(bytes, _) => write_quoted(&mut p.out, bytes),
            other => p.attr(other),
        });
        self.out.push_str("\n#-}\n");
    }

    /// Resources of one owner stand together, owners in the order in which they first appear.
    fn section<T>(&mut self, name: &str, entries: &[(String, String, T)], write: impl Fn(&mut Self, &T)) {
        if entries.is_empty() {
            return;
        }
        self.out.push_str("  ");
        self.out.push_str(name);
        self.out.push_str(": {\n");
        for (index, owned) in by_owner(entries).into_iter().enumerate() {
            self.out.push_str(if index == 0 { "    " } else { ",\n    " });
            write_name(&mut self.out, &owned[0].0);
            self.out.push_str(": {\n");
            for (index, (_, key, value)) in owned.into_iter().enumerate() {
                self.out.push_str(if index == 0 { "      " } else { ",\n      " });
                write_name(&mut self.out, key);
                self.out.push_str(": ");
                write(self, value);
            }
            self.out.push_str("\n    }");
        }
        self.out.push_str("\n  }");
    }
}

fn by_owner<T>(entries: &[(String, String, T)]) -> Vec<Vec<&(String, String, T)>> {
    let mut groups: Vec<Vec<&(String, String, T)>> = Vec::new();
    let mut group_of = std::collections::HashMap::new();
    for entry in entries {
        let group = *group_of.entry(entry.0.as_str()).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(entry);
    }
    groups
}
