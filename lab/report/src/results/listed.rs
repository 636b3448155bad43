//! Tables of results as lists of columns: a column is its heading and the cell of a row, from which text and Markdown are made.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// Rows with the columns that are shown of them.
pub(super) struct Listed<'a, R> {
    rows: Vec<R>,
    columns: Vec<Column<'a, R>>,
}

struct Column<'a, R> {
    head: String,
    cell: Box<dyn Fn(&R) -> String + 'a>,
}

/// These rows, without a column yet.
pub(super) fn listed<'a, R>(rows: impl IntoIterator<Item = R>) -> Listed<'a, R> {
    Listed { rows: rows.into_iter().collect(), columns: Vec::new() }
}

impl<'a, R> Listed<'a, R> {
    /// The same with a column more.
    pub(super) fn column(mut self, head: impl Into<String>, cell: impl Fn(&R) -> String + 'a) -> Self {
        self.columns.push(Column { head: head.into(), cell: Box::new(cell) });
        self
    }

    /// The same, with the columns that `more` adds if `is_shown`.
    pub(super) fn columns_if(self, is_shown: bool, more: impl FnOnce(Self) -> Self) -> Self {
        if is_shown { more(self) } else { self }
    }

    /// The headings.
    pub(super) fn heads(&self) -> Vec<&str> {
        self.columns.iter().map(|column| column.head.as_str()).collect()
    }

    /// The cells, row by row.
    pub(super) fn cells(&self) -> impl Iterator<Item = Vec<String>> {
        self.rows.iter().map(|row| self.columns.iter().map(|column| (column.cell)(row)).collect())
    }

    /// Adds it to a text, under a title and with an empty line below.
    pub(super) fn section(&self, text: &mut String, title: &str) {
        let mut table = table(self.heads());
        for row in self.cells() {
            table.add_row(row);
        }
        section(text, title, table);
    }

    /// As Markdown.
    pub(super) fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let heads: Vec<String> = self.heads().into_iter().map(String::from).collect();
        let rule = format!("|---|{}\n", "---:|".repeat(heads.len() - 1));
        [line(&heads), rule].into_iter().chain(self.cells().map(|row| line(&row))).collect()
    }
}

pub(super) fn section(text: &mut String, title: &str, table: Table) {
    text.push_str(title);
    text.push('\n');
    for line in table.lines() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.push('\n');
}

/// An empty table: first column aligned left, the rest right, two spaces apart.
pub(super) fn table<S: ToString>(header: impl IntoIterator<Item = S>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.into_iter().map(|head| head.to_string()).collect::<Vec<_>>());
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if i == 0 { 2 } else { 0 }, 2));
        if i > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}
