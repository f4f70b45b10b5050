#include <stdlib.h>

struct node {
        int value;
        struct node *next;
};

struct node *insert(struct node *head, int value)
{
        struct node *made = malloc(sizeof *made);

        if (!made)
                return head;
        made->value = value;
        if (!head || head->value >= value) {
                made->next = head;
                return made;
        }
        for (struct node *at = head; at; at = at->next) {
                if (!at->next || at->next->value >= value) {
                        made->next = at->next;
                        at->next = made;
                        break;
                }
        }
        return head;
}
