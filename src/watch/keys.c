#include "watch/keys.h"

static const unsigned WINDOWS_S[] = {1, 2, 5, 10, 15, 20, 30, 45, 60};

static enum wish change_rows(struct watch *watch, int by) {
    unsigned rows = watch->question.rows;
    watch->rows_fixed = true;
    if (by > 0 && rows < TOP_LIMIT)
        watch->question.rows++;
    else if (by < 0 && rows > 1)
        watch->question.rows--;
    else
        return WISH_NOTHING;
    return WISH_ASK;
}

static enum wish choose_window(struct watch *watch, int digit) {
    watch->question.recent = true;
    watch->question.window_s = WINDOWS_S[digit - '1'];
    return WISH_ASK;
}

/* Scrolls through the bands of hosts. */
static enum wish scroll(struct watch *watch, int by) {
    if (by < 0 && watch->view.first > 0)
        watch->view.first--;
    else if (by > 0 && watch->view.first < screen_hidden(&watch->view))
        watch->view.first++;
    return WISH_NOTHING;
}

enum wish keys_take(struct watch *watch, int key) {
    if (key >= '1' && key <= '9')
        return choose_window(watch, key);
    switch (key) {
    case 'q':
    case 'Q':
        watch->over = true;
        return WISH_NOTHING;
    case 't':
        watch->question.recent = !watch->question.recent;
        return WISH_ASK;
    case 'g':
        watch->question.group = (watch->question.group + 1) % GROUP_COUNT;
        return WISH_ASK;
    case '+':
    case '=':
        return change_rows(watch, 1);
    case '-':
        return change_rows(watch, -1);
    case ' ':
        watch->view.paused = !watch->view.paused;
        return watch->view.paused ? WISH_NOTHING : WISH_ASK;
    case 'h':
    case '?':
        watch->view.help = !watch->view.help;
        return WISH_NOTHING;
    case 'r':
        return WISH_ASK_ALL;
    case SCREEN_UP:
    case 'k':
        return scroll(watch, -1);
    case SCREEN_DOWN:
    case 'j':
        return scroll(watch, 1);
    default:
        return WISH_NOTHING;
    }
}
