import "./paint.test";
import "./plane.test";
import "./state.test";
import "./views.test";
