//! The op reference, from the ops' own documentation.

use crate::TensorOp;
use tegula_ir::Op;

/// Markdown: a heading an op, its text, its constraints as a list.
pub fn reference_markdown() -> String {
    let mut text = String::from(
        "# Tensor ops (`tgn`)\n\nGenerated from the definitions in `crates/tensor/src/ops.rs`.\n",
    );
    for (name, doc) in TensorOp::reference() {
        let words: Vec<&str> = doc.split_whitespace().collect();
        let (meaning, constraints) = split_constraints(&words);
        text += &format!("\n## `{}.{name}`\n\n{meaning}\n", TensorOp::DIALECT);
        if !constraints.is_empty() {
            text.push('\n');
        }
        for (number, constraint) in constraints {
            text += &format!("- `{name}_{number}`: {constraint}\n");
        }
    }
    text
}

/// `... c1: this. c2: that.` into the text before and the numbered constraints.
fn split_constraints<'a>(words: &[&'a str]) -> (String, Vec<(&'a str, String)>) {
    let mut meaning = Vec::new();
    let mut constraints: Vec<(&str, Vec<&str>)> = Vec::new();
    for word in words {
        match (constraint_number(word), constraints.last_mut()) {
            (Some(number), _) => constraints.push((number, Vec::new())),
            (None, Some((_, said))) => said.push(word),
            (None, None) => meaning.push(*word),
        }
    }
    (meaning.join(" "), constraints.into_iter().map(|(number, said)| (number, said.join(" "))).collect())
}

/// `c1` of `c1:`.
fn constraint_number(word: &str) -> Option<&str> {
    let number = word.strip_suffix(':')?;
    let digits = number.strip_prefix('c')?;
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then_some(number)
}

#[cfg(test)]
mod tests {
    #[test]
    fn constraints_become_a_list() {
        let text = super::reference_markdown();
        let start = text.find("## `tgn.broadcast`").expect("the op is listed");
        let section: String = text[start..].lines().take(6).collect::<Vec<_>>().join("\n");
        expect_test::expect![[r#"
            ## `tgn.broadcast`

            Repeats along extents of 1; an open extent may be 1 in some runs, and an assert says that it is equal in the others.

            - `broadcast_c1`: rank equal.
            - `broadcast_c2`: each extent equal, or 1 in the operand, or open there."#]]
        .assert_eq(&section);
    }
}
