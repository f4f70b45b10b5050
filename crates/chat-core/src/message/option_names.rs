//! Names the options of a model, and reads and writes each as text: what shows or takes options goes
//! by this list.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{InvalidOption, Options};

/// An option of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OptionName {
    /// [`Options::temperature`].
    Temperature,
    /// [`Options::top_p`].
    TopP,
    /// [`Options::top_k`].
    TopK,
    /// [`Options::min_p`].
    MinP,
    /// [`Options::repeat_penalty`].
    RepeatPenalty,
    /// [`Options::presence_penalty`].
    PresencePenalty,
    /// [`Options::frequency_penalty`].
    FrequencyPenalty,
    /// [`Options::seed`].
    Seed,
    /// [`Options::stop`].
    Stop,
    /// [`Options::max_tokens`].
    MaxTokens,
    /// [`Options::context_window`].
    ContextWindow,
    /// [`Options::keep_alive`].
    KeepAlive,
    /// [`Options::thinking_budget`].
    ThinkingBudget,
    /// [`Options::schema`].
    Schema,
}

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptionKind {
    /// A number.
    Number {
        /// The least.
        min: f64,
        /// The most.
        max: f64,
        /// What it usually is, to begin with.
        usual: f64,
    },
    /// A whole number.
    Whole {
        /// The least.
        min: u64,
        /// The most.
        max: u64,
        /// What it usually is, to begin with.
        usual: u64,
    },
    /// Texts, one a line.
    Lines,
    /// A duration such as `10m`.
    Duration,
    /// A JSON schema.
    Schema,
}

impl OptionName {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 14] = [
        Self::Temperature,
        Self::ContextWindow,
        Self::MaxTokens,
        Self::ThinkingBudget,
        Self::TopP,
        Self::TopK,
        Self::MinP,
        Self::RepeatPenalty,
        Self::PresencePenalty,
        Self::FrequencyPenalty,
        Self::Seed,
        Self::Stop,
        Self::KeepAlive,
        Self::Schema,
    ];

    /// Its name in settings and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Temperature => "temperature",
            Self::TopP => "top_p",
            Self::TopK => "top_k",
            Self::MinP => "min_p",
            Self::RepeatPenalty => "repeat_penalty",
            Self::PresencePenalty => "presence_penalty",
            Self::FrequencyPenalty => "frequency_penalty",
            Self::Seed => "seed",
            Self::Stop => "stop",
            Self::MaxTokens => "max_tokens",
            Self::ContextWindow => "context_window",
            Self::KeepAlive => "keep_alive",
            Self::ThinkingBudget => "thinking_budget",
            Self::Schema => "schema",
        }
    }

    /// The option of this name; a dash counts as an underscore.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.replace('-', "_");
        Self::ALL.into_iter().find(|option| option.name() == name)
    }

    /// What it takes.
    pub const fn kind(self) -> OptionKind {
        const fn number(min: f64, max: f64, usual: f64) -> OptionKind {
            OptionKind::Number { min, max, usual }
        }
        const fn whole(min: u64, max: u64, usual: u64) -> OptionKind {
            OptionKind::Whole { min, max, usual }
        }
        match self {
            Self::Temperature => number(0.0, 2.0, 0.7),
            Self::TopP => number(0.0, 1.0, 0.9),
            Self::TopK => whole(1, 1_000, 40),
            Self::MinP => number(0.0, 1.0, 0.05),
            Self::RepeatPenalty => number(0.0, 2.0, 1.1),
            Self::PresencePenalty | Self::FrequencyPenalty => number(-2.0, 2.0, 0.0),
            // What servers keep in 32 bits with a sign.
            Self::Seed => whole(0, 2_147_483_647, 42),
            Self::MaxTokens => whole(1, 2_097_152, 4_096),
            Self::ContextWindow => whole(1_024, 2_097_152, 16_384),
            Self::ThinkingBudget => whole(1_024, 1_048_576, 8_192),
            Self::Stop => OptionKind::Lines,
            Self::KeepAlive => OptionKind::Duration,
            Self::Schema => OptionKind::Schema,
        }
    }
}

impl Options {
    /// An option as text; none where it is not set. Lines of texts are joined.
    pub fn text(&self, option: OptionName) -> Option<String> {
        fn of<T: Serialize>(value: Option<&T>) -> Option<String> {
            match serde_json::to_value(value?).ok()? {
                serde_json::Value::String(text) => Some(text),
                number => Some(number.to_string()),
            }
        }
        match option {
            OptionName::Temperature => of(self.temperature.as_ref()),
            OptionName::TopP => of(self.top_p.as_ref()),
            OptionName::TopK => of(self.top_k.as_ref()),
            OptionName::MinP => of(self.min_p.as_ref()),
            OptionName::RepeatPenalty => of(self.repeat_penalty.as_ref()),
            OptionName::PresencePenalty => of(self.presence_penalty.as_ref()),
            OptionName::FrequencyPenalty => of(self.frequency_penalty.as_ref()),
            OptionName::Seed => of(self.seed.as_ref()),
            OptionName::Stop => (!self.stop.is_empty()).then(|| self.stop.join("\n")),
            OptionName::MaxTokens => of(self.max_tokens.as_ref()),
            OptionName::ContextWindow => of(self.context_window.as_ref()),
            OptionName::KeepAlive => of(self.keep_alive.as_ref()),
            OptionName::ThinkingBudget => of(self.thinking_budget.as_ref()),
            OptionName::Schema => of(self.schema.as_ref()),
        }
    }

    /// Sets an option by its text, or leaves it to the server. An empty text is none.
    ///
    /// # Errors
    /// Where the text is no value of the option; nothing is changed then.
    pub fn set_text(
        &mut self,
        option: OptionName,
        text: Option<&str>,
    ) -> Result<(), InvalidOption> {
        let text = text.filter(|text| !text.trim().is_empty());
        match option {
            OptionName::Temperature => self.temperature = number(option, text)?,
            OptionName::TopP => self.top_p = number(option, text)?,
            OptionName::TopK => self.top_k = whole(option, text)?,
            OptionName::MinP => self.min_p = number(option, text)?,
            OptionName::RepeatPenalty => self.repeat_penalty = number(option, text)?,
            OptionName::PresencePenalty => self.presence_penalty = number(option, text)?,
            OptionName::FrequencyPenalty => self.frequency_penalty = number(option, text)?,
            OptionName::Seed => self.seed = whole(option, text)?,
            OptionName::Stop => {
                let lines = text.unwrap_or_default().lines();
                self.stop = lines.filter(|line| !line.is_empty()).map(str::to_owned).collect();
            }
            OptionName::MaxTokens => self.max_tokens = whole(option, text)?,
            OptionName::ContextWindow => self.context_window = whole(option, text)?,
            OptionName::KeepAlive => self.keep_alive = checked(text)?,
            OptionName::ThinkingBudget => self.thinking_budget = whole(option, text)?,
            OptionName::Schema => self.schema = checked(text)?,
        }
        Ok(())
    }

    /// The options that are set.
    pub fn names(&self) -> impl Iterator<Item = OptionName> + '_ {
        OptionName::ALL.into_iter().filter(|option| self.text(*option).is_some())
    }
}

fn number(option: OptionName, text: Option<&str>) -> Result<Option<f64>, InvalidOption> {
    let OptionKind::Number { min, max, .. } = option.kind() else { return Err(InvalidOption) };
    let Some(text) = text else { return Ok(None) };
    let number: f64 = text.trim().parse().map_err(|_| InvalidOption)?;
    if (min..=max).contains(&number) { Ok(Some(number)) } else { Err(InvalidOption) }
}

fn whole<T: TryFrom<u64>>(
    option: OptionName,
    text: Option<&str>,
) -> Result<Option<T>, InvalidOption> {
    let OptionKind::Whole { min, max, .. } = option.kind() else { return Err(InvalidOption) };
    let Some(text) = text else { return Ok(None) };
    let number: u64 = text.trim().parse().map_err(|_| InvalidOption)?;
    if !(min..=max).contains(&number) {
        return Err(InvalidOption);
    }
    T::try_from(number).map(Some).map_err(|_| InvalidOption)
}

fn checked<T: DeserializeOwned>(text: Option<&str>) -> Result<Option<T>, InvalidOption> {
    let Some(text) = text else { return Ok(None) };
    serde_json::from_value(text.into()).map(Some).map_err(|_| InvalidOption)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A text that each option takes.
    fn sample(option: OptionName) -> &'static str {
        match option.kind() {
            OptionKind::Number { .. } => "0.25",
            OptionKind::Whole { min, .. } if min > 1 => "2048",
            OptionKind::Whole { .. } => "7",
            OptionKind::Lines => "END\n###",
            OptionKind::Duration => "10m",
            OptionKind::Schema => "{\"type\":\"object\"}",
        }
    }

    #[test]
    fn every_option_is_set_stored_and_unset_by_its_name() {
        for option in OptionName::ALL {
            assert_eq!(OptionName::named(option.name()), Some(option));
            let mut options = Options::default();
            options.set_text(option, Some(sample(option))).unwrap();
            assert_eq!(options.text(option).as_deref(), Some(sample(option)), "{option:?}");
            assert_eq!(options.names().collect::<Vec<_>>(), [option]);
            let json = serde_json::to_value(&options).unwrap();
            assert!(json.get(option.name()).is_some(), "{option:?}: stored by the same name");
            assert_eq!(serde_json::from_value::<Options>(json).unwrap(), options);
            assert_eq!(Options::default().or(&options), options, "{option:?}");
            options.set_text(option, None).unwrap();
            assert_eq!(options, Options::default(), "{option:?}");
        }
    }

    #[test]
    fn a_text_that_is_no_value_changes_nothing() {
        for option in OptionName::ALL.into_iter().filter(|it| *it != OptionName::Stop) {
            let mut options = Options::default();
            options.set_text(option, Some(sample(option))).unwrap();
            let was = options.clone();
            for bad in ["x", "-99999999999", "1e999", "NaN", "[1]"] {
                assert_eq!(
                    options.set_text(option, Some(bad)),
                    Err(InvalidOption),
                    "{option:?} {bad}"
                );
                assert_eq!(options, was);
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_taken_is_given_back(at in 0..OptionName::ALL.len(), text in "\\PC{0,12}") {
            let option = OptionName::ALL[at];
            let mut options = Options::default();
            if options.set_text(option, Some(&text)).is_ok()
                && let Some(shown) = options.text(option)
            {
                let mut again = Options::default();
                again.set_text(option, Some(&shown)).unwrap();
                prop_assert_eq!(again, options);
            }
        }
    }
}
