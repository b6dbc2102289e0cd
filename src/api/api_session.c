#include "infer/session.h"

nade_status nade_session_open(nade_context *context, const nade_model *model, nade_device device,
                              nade_precision precision, nade_session **session)
{
    if (!model || !session)
        return nd_fail(context, NADE_BAD_CALL, "nade_session_open needs a model and a place for the session");
    return nd_session_open(context, model, device, precision, session);
}

void nade_session_free(nade_session *session)
{
    nd_session_free(session);
}
