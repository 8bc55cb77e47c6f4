"""Completion for bash. It does not need the package bash-completion, and uses its help for programs if it is there."""

from described import choices, has_value, long_name, named

PATH = "bash-completion/completions/millrace"

SCRIPT = """# Completion of millrace for bash. Made from its options (tools/manual); do not edit.

# The commands; the options of a command, or of millrace itself; those that take the next word; what that may be.
_millrace_commands="@commands@"
_millrace_options() {
  case $1 in
@options@
  esac
}
_millrace_takes_word() {
  case "$1 $2" in
@takes@
  esac
  return 1
}
_millrace_choices() {
  case "$1 $2" in
@choices@
  esac
}

# Words that begin with the current one, one a line.
_millrace_matching() { compgen -W "$1" -- "$2"; }

# A program with arguments of its own begins at the word $1.
_millrace_program() {
  if [ "$COMP_CWORD" -gt "$1" ] && declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif [ "$COMP_CWORD" -gt "$1" ]; then
    mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
  else
    mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}"; compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
  fi
}

_millrace() {
  local command= word index=1
  local current=${COMP_WORDS[COMP_CWORD]} option=
  COMPREPLY=()
  while [ "$index" -lt "$COMP_CWORD" ]; do
    word=${COMP_WORDS[index]}
    option=
    case $word in
      --) _millrace_program $((index + 1)); return ;;
      =) option=${COMP_WORDS[index - 1]} ;;  # bash parts --option=value into three words
      -*)
        if _millrace_takes_word "$command" "$word"; then
          option=$word
          [ "${COMP_WORDS[index + 1]}" = = ] || index=$((index + 1))
          [ "$index" -lt "$COMP_CWORD" ] && [ "${COMP_WORDS[index]}" != "$word" ] && option=
        elif [ "${COMP_WORDS[index + 1]}" = = ] && [ $((index + 1)) -lt "$COMP_CWORD" ]; then
          option=$word
        fi
        ;;
      *)
        if [ -n "$command" ] || [ "${COMP_WORDS[index - 1]}" = = ]; then
          :
        elif [[ " $_millrace_commands " == *" $word "* ]]; then
          command=$word
        else
          _millrace_program "$index"
          return
        fi
        ;;
    esac
    index=$((index + 1))
  done
  [ "$current" = = ] && [ -n "$option" ] && current=
  if [ -n "$option" ]; then
    mapfile -t COMPREPLY < <(_millrace_matching "$(_millrace_choices "$command" "$option")" "$current"
                             compgen -f -- "$current")
  elif [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(_millrace_matching "$(_millrace_options "$command")" "$current")
  elif [ -z "$command" ]; then
    mapfile -t COMPREPLY < <(_millrace_matching "$_millrace_commands" "$current"
                             compgen -c -- "$current"; compgen -f -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -o filenames -F _millrace millrace
"""


def case(pattern, action):
    return f"    {pattern}) {action} ;;"


def completion(main, commands):
    described = {"": main, **commands}
    options, takes, words = [], [], []
    for name, description in described.items():
        found = named(description)
        options.append(case(f'"{name}"', f'echo "{" ".join(word for option in found for word in option["names"])}"'))
        for option in found:
            if has_value(option):
                takes += [case(f'"{name} {word}"', "return 0") for word in option["names"]]
            if choices(option):
                words.append(case(f'"{name} {long_name(option)}"', f'echo "{" ".join(choices(option))}"'))
    text = SCRIPT.replace("@commands@", " ".join(commands)).replace("@options@", "\n".join(options))
    return text.replace("@takes@", "\n".join(takes)).replace("@choices@", "\n".join(words))
