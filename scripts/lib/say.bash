# Words to the person, and the end when something is wrong. To be sourced.

# In red or bold where a person looks on; plain in a log.
if [ -t 2 ]; then
    say_bold=$'\e[1m' say_red=$'\e[31m' say_plain=$'\e[0m'
else
    say_bold='' say_red='' say_plain=''
fi

# say WORD…: what happens now.
say() {
    printf '%s%s%s\n' "$say_bold" "$*" "$say_plain" >&2
}

# fail WORD…: says what is wrong and ends.
fail() {
    printf '%s%s%s\n' "$say_red" "$*" "$say_plain" >&2
    exit 1
}

# in_ci: whether this is a run in which nothing may be skipped.
in_ci() {
    [ "${CI:-}" = true ]
}
