//! `inventory`: the stock of a small shop, in one JSON file. Its tools say nothing about what they do, like those
//! of many servers: for the engine they are unclassified, whatever their names suggest.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::protocol::{Answer, Demo, Era, settle, text, tool};

/// The variable that names the shop.
pub(super) const NAME: &str = "SHOP_NAME";

pub(super) struct Inventory {
    file: PathBuf,
    shop: Option<String>,
}

impl Inventory {
    /// Opens the stock; a new one holds three items.
    pub(super) fn open(scratch: &Path, shop: Option<String>) -> io::Result<Self> {
        let inventory = Self { file: scratch.join("inventory.json"), shop };
        if !inventory.file.exists() {
            let stock = [("desk lamp", 4), ("mug", 31), ("notebook", 120)];
            inventory.save(&stock.map(|(item, count)| (item.to_owned(), count)).into())?;
        }
        Ok(inventory)
    }

    /// Read anew for each call: two connections may work on one file.
    fn load(&self) -> Result<BTreeMap<String, u64>, String> {
        let bytes = fs::read(&self.file).map_err(|error| format!("the stock cannot be read: {error}"))?;
        serde_json::from_slice(&bytes).map_err(|error| format!("the stock file is damaged: {error}"))
    }

    fn save(&self, stock: &BTreeMap<String, u64>) -> io::Result<()> {
        let temporary = self.file.with_extension(format!("json.{}", std::process::id()));
        fs::write(&temporary, serde_json::to_vec_pretty(stock)?)?;
        fs::rename(temporary, &self.file)
    }

    fn change(
        &self,
        change: impl FnOnce(&mut BTreeMap<String, u64>) -> Result<String, String>,
    ) -> Result<Answer, String> {
        let mut stock = self.load()?;
        let said = change(&mut stock)?;
        self.save(&stock).map_err(|error| format!("the stock cannot be written: {error}"))?;
        Ok(Answer::Text(said))
    }

    fn list(&self) -> Result<Answer, String> {
        let stock = self.load()?;
        let items = stock.iter().map(|(item, count)| format!("{count:>5}  {item}"));
        let lines: Vec<String> = self.shop.clone().into_iter().chain(items).collect();
        Ok(Answer::Data(lines.join("\n"), json!({"items": stock})))
    }

    fn get(&self, arguments: &Map<String, Value>) -> Result<Answer, String> {
        let item = text(arguments, "item")?;
        let count = self.load()?.get(item).copied().ok_or_else(|| format!("there is no \"{item}\""))?;
        Ok(Answer::Data(format!("{count} of {item}"), json!({"item": item, "count": count})))
    }

    fn set(&self, arguments: &Map<String, Value>) -> Result<Answer, String> {
        let item = text(arguments, "item")?;
        let count = arguments.get("count").and_then(Value::as_u64).ok_or("count is not a whole number from 0 on")?;
        self.change(|stock| {
            stock.insert(item.to_owned(), count);
            Ok(format!("now {count} of {item}"))
        })
    }

    fn remove(&self, arguments: &Map<String, Value>) -> Result<Answer, String> {
        let item = text(arguments, "item")?;
        self.change(|stock| {
            stock.remove(item).ok_or_else(|| format!("there is no \"{item}\""))?;
            Ok(format!("removed {item}"))
        })
    }
}

impl Demo for Inventory {
    fn name(&self) -> &'static str {
        "inventory"
    }

    fn era(&self) -> Era {
        Era::Older
    }

    fn instructions(&self) -> &'static str {
        "The stock of a small shop."
    }

    fn tools(&self) -> Vec<Value> {
        let item = ("item", json!({"type": "string", "description": "The item's name."}));
        let count = ("count", json!({"type": "integer", "minimum": 0, "description": "How many there are."}));
        vec![
            tool("list_items", "All items and how many there are.", &[], None),
            tool("get_item", "How many there are of one item.", std::slice::from_ref(&item), None),
            tool("set_stock", "Sets the number of an item; a new one is added.", &[item.clone(), count], None),
            tool("remove_item", "Takes an item out of the stock.", &[item], None),
        ]
    }

    fn call(&mut self, tool: &str, arguments: &Map<String, Value>) -> Option<Answer> {
        Some(settle(match tool {
            "list_items" => self.list(),
            "get_item" => self.get(arguments),
            "set_stock" => self.set(arguments),
            "remove_item" => self.remove(arguments),
            _ => return None,
        }))
    }
}
