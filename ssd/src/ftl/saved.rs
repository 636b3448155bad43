//! What writes have changed of a drive's tables: with the configuration it gives the tables again.

use alloc::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Ftl;
use super::pool::Pool;
use super::reverse::Reverse;
use super::validity::Validity;
use crate::config::Config;

/// The tables that writes change, as they are stored.
#[derive(Serialize, Deserialize)]
pub(crate) struct Tables<'a> {
    map: Cow<'a, [u32]>,
    reverse: Cow<'a, Reverse>,
    validity: Cow<'a, Validity>,
    pools: Cow<'a, [Pool]>,
}

impl Ftl {
    /// What writes have changed. No page may have left its home plane.
    pub(crate) fn tables(&self) -> Tables<'_> {
        Tables {
            map: Cow::Borrowed(self.map.entries()),
            reverse: Cow::Borrowed(&self.reverse),
            validity: Cow::Borrowed(&self.validity),
            pools: Cow::Borrowed(&self.pools),
        }
    }

    /// The translation layer of `config` after the writes that made `tables`; `None` if they are of a drive of another size.
    pub(crate) fn with_tables(config: &Config, tables: Tables<'_>) -> Option<Ftl> {
        let mut ftl = Ftl::new(config);
        let Tables { map, reverse, validity, pools } = tables;
        let fits = map.len() == ftl.map.entries().len()
            && reverse.fits(&ftl.reverse)
            && validity.fits(&ftl.validity)
            && pools.len() == ftl.pools.len()
            && pools.iter().zip(&ftl.pools).all(|(pool, own)| pool.fits(own));
        fits.then(|| {
            ftl.map.set_entries(map.into_owned());
            (ftl.reverse, ftl.validity) = (reverse.into_owned(), validity.into_owned());
            ftl.pools = pools.into_owned();
            ftl
        })
    }
}
